//! td is killed again and again while money is booked and the drop copy is full, since the ledger does not run: each entry counts once.

mod home;

use std::sync::Arc;
use std::time::Duration;

use journal::{Journal, JournalFiles, Registry, WriteError, Writer};
use wire::{AccountAction, AccountChange, AccountScope, Currency, Message, Text, WideMoney};

use home::{Home, kill, number, stderr};

/// The smallest ring: it is full after a few hundred entries.
const CONFIG: &str = r#"
[platform]
instance = "desk"
[md]
source = "exchange"
instruments = 1
[td]
restart_max = 1000000
restart_backoff = "0s"
[ledger]
snapshot = "20ms"
[journal]
td.drops.capacity = "64KiB"
[[accounts]]
number = 7
deposit = 1000
[strategies]
count = 0
"#;

const ONE: i128 = 1_000_000_000;

/// Kills of td; more by the environment.
fn kills() -> u64 {
    std::env::var("COLO_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(16)
}

struct Desk {
    home: Home,
    entries: Writer,
    random: u64,
    /// What the account must have.
    balance: i128,
    booked: u64,
}

impl Desk {
    fn open(home: Home) -> Desk {
        let folder = home.root.path().join("desk");
        let registry = Registry::open(&folder.join("registry")).expect("the registry");
        let clock = registry.clock(&folder.join("registry")).expect("the platform's clock");
        let mut entries = journal_of(&home, "desk.entries").writer(0, clock).expect("no other writer");
        // td may sleep.
        entries.wake_through(Arc::new(registry));
        let random = std::env::var("COLO_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
        Desk { home, entries, random, balance: 1_000 * ONE, booked: 0 }
    }

    fn below(&mut self, most: u64) -> u64 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % most
    }

    fn pid(&self, node: &str) -> u32 {
        u32::try_from(number(&self.home.node("desk", node)["pid"])).expect("a pid")
    }

    /// Money in or out, as long as td reads: out also where there is not so much, which td refuses.
    fn book(&mut self, most: u64) {
        for _ in 0..most {
            let (is_in, amount) = (self.below(2) == 0, i128::from(1 + self.below(900)) * ONE);
            let action = if is_in { AccountAction::Deposit } else { AccountAction::Withdraw };
            let change = AccountChange {
                subject: 7,
                scope: AccountScope::Account,
                action,
                reserved: 0,
                amount: WideMoney::from_wide(amount),
                currency: Currency::new("CNY").expect("a currency"),
                who: Text::cut("test"),
                why: Text::cut("cuts"),
            };
            match self.entries.write(AccountChange::ID, 0, change.bytes()) {
                Ok(_) => {}
                Err(WriteError::Full { .. }) => return,
                Err(error) => panic!("desk.entries: {error}"),
            }
            self.booked += 1;
            match action {
                AccountAction::Deposit => self.balance += amount,
                _ if amount <= self.balance => self.balance -= amount,
                _ => {}
            }
        }
    }

    fn kill_td(&mut self) {
        let before = self.pid("td");
        std::thread::sleep(Duration::from_micros(self.below(3_000)));
        kill(before, "KILL");
        self.home.wait_for("td's successor", || self.pid("td") != before);
    }

    /// td has read all entries, and the ledger all that td has written.
    fn is_settled(&self) -> bool {
        ["desk.entries", "td.drops"].into_iter().all(|name| {
            let stat = journal_of(&self.home, name).stat();
            stat.readers.iter().all(|reader| reader.position >= stat.head)
        })
    }

    fn shown(&self) -> i128 {
        let account = self.home.json(&["account", "show", "7", "-i", "desk", "--format", "json"]);
        let text = account["balance"].as_str().unwrap_or_else(|| panic!("{account}"));
        let (units, part) = text.split_once('.').unwrap_or((text, ""));
        let part: i128 = format!("{part:0<9}").parse().expect("digits");
        units.parse::<i128>().expect("digits") * ONE + part
    }
}

fn journal_of(home: &Home, name: &str) -> Journal {
    let folder = home.root.path().join("desk/journals");
    Journal::open(JournalFiles::new(&folder, &folder, name)).expect("the journal")
}

#[test]
fn money_counts_once_however_often_td_dies_before_a_full_drop_copy() {
    let home = Home::new();
    let path = home.state_path().join("desk.toml");
    std::fs::write(&path, CONFIG).expect("the platform file");
    let up = home.colo(&["up", &path.to_string_lossy(), "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let mut desk = Desk::open(home);
    let mut left = kills();
    let mut full = 0;
    while left > 0 {
        let ledger = desk.pid("ledger");
        kill(ledger, "STOP");
        for _ in 0..left.min(2) {
            let most = 120 + desk.below(200);
            desk.book(most);
            desk.kill_td();
            full += u64::from(!desk.is_settled());
            left -= 1;
        }
        kill(ledger, "CONT");
        desk.home.wait_for("all entries", || desk.is_settled());
    }
    let mut shown = desk.shown();
    // The ledger shows accounts at its own pace.
    desk.home
        .wait_for("the last state of the account", || shown == std::mem::replace(&mut shown, desk.shown()));
    println!("{} entries, {full} of {} deaths with entries that td could not take yet", desk.booked, kills());
    assert_eq!(shown, desk.balance, "after {} entries\n{}", desk.booked, desk.home.logs());
    assert!(desk.booked > 200 && full > 0, "{} entries, {full} deaths before a full drop copy", desk.booked);
    let down = desk.home.colo(&["down", "desk"]);
    assert!(down.status.success(), "{}", stderr(&down));
}
