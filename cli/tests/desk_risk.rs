//! What the ledger does about accounts by itself: positions are closed by force, losses kill, balances stand in shared memory.

mod home;

use std::collections::{BTreeMap, BTreeSet};

use accounts::{Follower, Options, Touched};
use journal::{Journal, JournalFiles, Latest};
use wire::{
    AccountAction, AccountId, AccountState, AnyMessage, DROP_TAKEN, Message, Nanos, NewOrder, OrderId,
    OrderStatus, Reason, StrategyId,
};

use home::{Home, kill, number, stderr};

/// The taker buys and sells in turn. Its account may hold next to nothing: what it buys is closed by force.
const CONFIG: &str = r#"
[platform]
instance = "risk"
DETERMINISTIC
[md]
source = "sim"
instruments = 2
interval = "2ms"
count = COUNT
readers = "gated"
generator = "timed"
[matching]
fill = "quotes"
[ledger]
restart_max = 1000000
restart_backoff = "0s"
snapshot = "50ms"
[journal]
td.drops.capacity = "64MiB"
[desk]
mark_every = "5ms"
[[desk.margins]]
long = "1"
short = "1"
[[accounts]]
number = 7
kind = "margin"
deposit = 100000000
limits = { margin_call = "0.000001", forced_liquidation = "0.000001" }
[[accounts]]
number = 8
kind = "margin"
deposit = 100000000
limits = { loss = 1 }
[strategies]
instruments = "all"
[[strategies.group]]
name = "forced"
program = "builtin:taker"
count = 1
accounts = [7]
params = { quantity = 5, every = 40, max_position = 5 }
[[strategies.group]]
name = "loser"
program = "builtin:taker"
count = 1
accounts = [8]
params = { quantity = 5, every = 10, max_position = 5 }
"#;

fn config(home: &Home, count: u64, deterministic: bool) -> String {
    let path = home.root.path().with_extension("toml");
    let lock_step = if deterministic { "deterministic = true" } else { "" };
    let text = CONFIG.replace("COUNT", &count.to_string()).replace("DETERMINISTIC", lock_step);
    std::fs::write(&path, text).expect("the platform file");
    path.to_string_lossy().into_owned()
}

fn drops(home: &Home, mut each: impl FnMut(u64, u32, u64, u16, &[u8])) {
    let folder = home.root.path().join("risk/journals");
    let files = JournalFiles::new(&folder, &folder, "td.drops");
    let mut reader =
        Journal::open_read_only(files).expect("the journal").loose_from_start().expect("its start");
    while let Some(frame) = reader.read().expect("nothing was overwritten") {
        each(frame.position, frame.topic, frame.time, frame.message_id, frame.payload);
    }
}

fn up(home: &Home, count: u64, deterministic: bool) -> String {
    up_with(home, config(home, count, deterministic))
}

fn up_with(home: &Home, path: String) -> String {
    let up = home.colo(&["up", &path, "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    path
}

fn down(home: &Home, path: String) {
    let down = home.colo(&["down", "risk"]);
    std::fs::remove_file(path).expect("the platform file");
    assert!(down.status.success(), "{}", stderr(&down));
}

/// The market is over, and nothing more comes.
fn settle(home: &Home) {
    home.wait_for("the end of the data", || home.node("risk", "md")["state"] == "finished");
    be_quiet(home);
}

/// The drop copy does not grow any more.
fn be_quiet(home: &Home) {
    let mut last = 0;
    home.wait_for("quiet", || {
        let mut position = 0;
        drops(home, |at, _, _, _, _| position = at);
        std::thread::sleep(std::time::Duration::from_millis(500));
        std::mem::replace(&mut last, position) == position
    });
}

/// What the drop copy says, in words without times.
#[derive(Debug, Default)]
struct Said {
    forced: Vec<NewOrder>,
    /// What became of them: lots that traded, and refusals.
    traded: i64,
    refused: Vec<OrderId>,
    kills: Vec<(u32, String)>,
    marks: u64,
    lines: Vec<String>,
    follower: Option<Follower>,
}

fn read(home: &Home) -> Said {
    let mut said = Said::default();
    let mut follower = Follower::new(Options { remembered: 16_384 });
    let mut forced = BTreeSet::new();
    drops(home, |position, topic, time, id, payload| {
        follower.frame((position, topic, Nanos(time)), id, payload).expect("it follows");
        let line = match AnyMessage::decode(id, payload).expect("a message") {
            AnyMessage::NewOrder(order) => {
                if order.flags & NewOrder::FORCED != 0 {
                    assert!(forced.insert(order.order_id), "{} was given out twice", order.order_id);
                    assert_eq!(topic, DROP_TAKEN, "it is refused: {order:?}");
                    said.forced.push(order);
                }
                format!("{} {} {} {}", order.order_id, order.side, order.price, order.quantity)
            }
            AnyMessage::Fill(fill) => {
                if forced.contains(&fill.order_id) {
                    said.traded += fill.quantity.0;
                }
                format!("{} {} {}", fill.order_id, fill.price, fill.quantity)
            }
            AnyMessage::OrderUpdate(update) => {
                if forced.contains(&update.order_id) && update.status == OrderStatus::Rejected {
                    said.refused.push(update.order_id);
                }
                format!("{} {:?} {:?}", update.order_id, update.status, update.reason)
            }
            AnyMessage::Mark(mark) => {
                said.marks += 1;
                format!("{} at {}", mark.instrument, mark.price)
            }
            AnyMessage::AccountChange(change) => {
                if change.action == AccountAction::Kill {
                    said.kills.push((change.subject, change.who.to_string()));
                }
                format!("{:?} {} by {}", change.action, change.subject, change.who)
            }
            other => other.name().to_owned(),
        };
        said.lines.push(format!("{topic} {line}"));
    });
    follower.desk.audit().expect("sums are what their parts come to");
    said.follower = Some(follower);
    said
}

/// What the shared memory says is what the drop copy comes to.
fn assert_shown(home: &Home, follower: &Follower) {
    let path = home.root.path().join("risk/journals/ledger.accounts");
    let shown = Latest::open_read_only(&path).expect("the accounts' states");
    let mut accounts = BTreeMap::new();
    follower.states(Touched::All, |slot, state| {
        let mut bytes = [0; size_of::<AccountState>()];
        shown.get(slot, &mut bytes).expect("it was shown");
        let found = AccountState::decode(&bytes).expect("a state");
        // It was shown when it last changed.
        assert_eq!(AccountState { drops: state.drops, ..found }, state);
        assert!(found.drops <= state.drops);
        accounts.insert(state.account.0, slot);
    });
    assert_eq!(accounts, BTreeMap::from([(7, 0), (8, 1)]));
}

#[test]
fn what_an_account_may_not_hold_is_closed_by_force_once_whoever_is_killed() {
    let home = Home::new();
    let path = up(&home, 1_500, false);
    let pid = || u32::try_from(number(&home.node("risk", "ledger")["pid"])).expect("a pid");
    for pause in [300, 410, 170, 230] {
        std::thread::sleep(std::time::Duration::from_millis(pause));
        let before = pid();
        kill(before, "KILL");
        home.wait_for("its successor", || pid() != before);
    }
    settle(&home);
    let said = read(&home);
    let counters = home.node("risk", "ledger")["counters"].clone();
    assert_shown(&home, said.follower.as_ref().expect("it was read"));
    down(&home, path);
    println!("{} forced orders, {} lots, {} marks; {counters}", said.forced.len(), said.traded, said.marks);
    assert!(said.forced.len() > 5 && said.traded > 0 && said.marks > 100, "{said:?}");
    assert!(said.forced.iter().all(|order| order.account.0 == 7), "{said:?}");
    assert_eq!(said.refused, [], "{said:?}");
    assert!(said.kills.iter().any(|(account, _)| *account == 8), "its loss kills: {said:?}");
}

/// Forced orders behind the last frame that is news to a survey: a mark, a fill, an entry, or the end of an order of a strategy.
fn forced_without_news(home: &Home) -> usize {
    let mut forced: BTreeSet<OrderId> = BTreeSet::new();
    drops(home, |_, _, _, id, payload| match AnyMessage::decode(id, payload).expect("a message") {
        AnyMessage::NewOrder(order) if order.flags & NewOrder::FORCED != 0 => {
            forced.insert(order.order_id);
        }
        AnyMessage::OrderUpdate(update) if forced.contains(&update.order_id) => {
            assert_eq!((update.status, update.reason), (OrderStatus::Rejected, Reason::MarketClosed));
        }
        _ => forced.clear(),
    });
    forced.len()
}

/// A market that is closed for good refuses each forced order, and no mark comes: only the ledger's timer tries again.
#[test]
fn what_is_refused_is_tried_again_without_any_news() {
    let home = Home::new();
    let path = config(&home, 1_000_000, false);
    let text = std::fs::read_to_string(&path).expect("the platform file");
    let bound = r#"limits = { margin_call = "0.000001", forced_liquidation = "0.000001" }"#;
    assert!(text.contains(bound), "{text}");
    let closes = "fill = \"quotes\"\nrestart_max = 0";
    std::fs::write(&path, text.replace(bound, "").replace("fill = \"quotes\"", closes)).expect("written");
    let path = up_with(&home, path);
    let pid = |node: &str| u32::try_from(number(&home.node("risk", node)["pid"])).expect("a pid");
    let holds = || {
        let follower = read(&home).follower.expect("it was read");
        let rows = follower.desk.positions(StrategyId(0), AccountId(7));
        rows.iter().any(|row| row.long_today + row.short_today > 0)
    };
    // Without a market the taker does nothing, and no mark moves.
    home.wait_for("a position that nobody changes", || {
        kill(pid("md"), "CONT");
        std::thread::sleep(std::time::Duration::from_millis(120));
        kill(pid("md"), "STOP");
        be_quiet(&home);
        holds()
    });
    let matching = pid("matching");
    kill(matching, "KILL");
    home.wait_for("a market that is closed for good", || pid("matching") != matching);
    let limit = "account limit forced-liquidation 0.000001 --account 7 --why test --force";
    let limit = home.colo(&limit.split(' ').collect::<Vec<_>>());
    assert!(limit.status.success(), "{}", stderr(&limit));
    home.wait_for("orders by force without any news", || forced_without_news(&home) >= 6);
    assert!(holds(), "the market is closed");
    std::fs::remove_file(path).expect("the platform file");
}

/// All processes end as if the host had, master first.
fn crash(home: &Home) {
    let registry =
        journal::Registry::open_read_only(&home.root.path().join("risk/registry")).expect("a registry");
    let processes: Vec<_> =
        (0..registry.seats()).filter_map(|seat| Some(registry.seat(seat)?.process())).collect();
    for process in processes.iter().filter(|process| process.is_alive()) {
        kill(process.pid, "KILL");
        home.wait_for("its end", || !process.is_alive());
    }
}

#[test]
fn accounts_come_back_from_a_recording() {
    let home = Home::new();
    let recordings = home.state_path().join("recordings").display().to_string();
    let path = config(&home, 1_500, false);
    let text = std::fs::read_to_string(&path).expect("the platform file");
    let recorder = format!("[[recorder]]\npath = \"{recordings}\"\njournals = [\"all\"]\n");
    std::fs::write(&path, text + &recorder).expect("the platform file");
    let path = up_with(&home, path);
    home.wait_for("forced orders", || {
        let mut forced = 0;
        drops(&home, |_, _, _, id, payload| {
            let order = (id == NewOrder::ID).then(|| NewOrder::decode(payload).expect("an order"));
            forced += u64::from(order.is_some_and(|order| order.flags & NewOrder::FORCED != 0));
        });
        forced > 5
    });
    crash(&home);
    let up = home.colo(&["up", "--recover", &format!("{recordings}/risk"), "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    settle(&home);
    let said = read(&home);
    assert_shown(&home, said.follower.as_ref().expect("it was read"));
    down(&home, path);
    let epochs: BTreeSet<u16> = said.forced.iter().map(|order| order.order_id.epoch()).collect();
    println!("{} forced orders, epochs {epochs:?}", said.forced.len());
    assert!(epochs.len() > 1 && said.traded > 0, "before and after: {said:?}");
}

#[test]
fn in_lock_step_two_runs_have_the_same_drop_copy() {
    let runs: Vec<Vec<String>> = (0..2)
        .map(|_| {
            let home = Home::new();
            let path = up(&home, 200, true);
            settle(&home);
            let said = read(&home);
            assert_shown(&home, said.follower.as_ref().expect("it was read"));
            down(&home, path);
            assert!(said.marks > 50, "{said:?}");
            said.lines
        })
        .collect();
    let different = runs[0].iter().zip(&runs[1]).position(|(one, other)| one != other);
    if let Some(at) = different {
        let around = |run: &[String]| run[at.saturating_sub(5)..(at + 5).min(run.len())].join("\n");
        panic!("frame {at} differs:\n{}\n\nand\n{}", around(&runs[0]), around(&runs[1]));
    }
    assert_eq!(runs[0].len(), runs[1].len());
}
