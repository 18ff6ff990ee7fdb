//! A kill, and the death of a strategy, in a phase in which the market takes no cancels: what must end ends as soon as it takes
//! some, and `colo kill` says what has ended.

mod home;

use std::collections::BTreeMap;
use std::process::Output;

use journal::{Journal, JournalFiles};
use serde_json::Value;
use wire::{AccountId, AnyMessage, DROP_TAKEN, OrderId};

use home::{Home, kill, number, stderr, stdout};

/// Without a phase that ends them, nobody's orders can be cancelled before the market uncrosses.
const CONFIG: &str = r#"
[platform]
instance = "ends"
[md]
source = "exchange"
instruments = 2
[td]
restart_max = 1000000
restart_backoff = "0s"
[matching]
rules = "shanghai"
[[matching.phases]]
after = "0s"
phase = "opening-freeze"
PHASES
[journal]
capacity = "8MiB"
td.orders.capacity = "16MiB"
td.drops.capacity = "64MiB"
[[accounts]]
number = 7
kind = "margin"
deposit = 100000000
[[accounts]]
number = 8
kind = "margin"
deposit = 100000000
[[accounts]]
number = 9
kind = "margin"
deposit = 100000000
[desk]
limits = { }
[[desk.margins]]
long = "0.1"
short = "0.1"
[strategies]
instruments = "all"
[[strategies.group]]
name = "doomed"
program = "builtin:noise"
count = 1
accounts = [7]
params = { every_ms = 2, depth_ticks = 2, all_kinds = false }
[[strategies.group]]
name = "others"
program = "builtin:noise"
count = 2
accounts = [8]
params = { every_ms = 2, depth_ticks = 2, all_kinds = false }
[[strategies.group]]
name = "dying"
program = "builtin:noise"
count = 1
accounts = [9]
params = { every_ms = 2, depth_ticks = 2, all_kinds = false }
"#;

/// A phase that begins so many seconds after the start.
fn phase(after: u64, name: &str) -> String {
    format!("[[matching.phases]]\nafter = \"{after}s\"\nphase = \"{name}\"\n")
}

fn up(phases: &[String]) -> Home {
    let home = Home::new();
    let path = home.state_path().join("ends.toml");
    std::fs::write(&path, CONFIG.replace("PHASES", &phases.concat())).expect("the platform file");
    let up = home.colo(&["up", &path.display().to_string(), "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    home
}

fn down(home: &Home) {
    let down = home.colo(&["down", "ends"]);
    assert!(down.status.success(), "{}", stderr(&down));
}

fn drops(home: &Home, mut each: impl FnMut(AnyMessage)) {
    let folder = home.root.path().join("ends/journals");
    let journal = Journal::open_read_only(JournalFiles::new(&folder, &folder, "td.drops")).expect("drops");
    let mut reader = journal.loose_from_start().expect("nothing was overwritten");
    while let Some(frame) = reader.read().expect("nothing was overwritten") {
        if frame.topic == DROP_TAKEN {
            each(AnyMessage::decode(frame.message_id, frame.payload).expect("a message"));
        }
    }
}

/// By account: fills, and orders without an end.
fn traded(home: &Home) -> BTreeMap<u32, (u64, u64)> {
    let mut accounts: BTreeMap<OrderId, AccountId> = BTreeMap::new();
    let mut sums: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    drops(home, |message| match message {
        AnyMessage::NewOrder(order) => {
            accounts.insert(order.order_id, order.account);
            sums.entry(order.account.0).or_default().1 += 1;
        }
        AnyMessage::Fill(fill) => sums.entry(accounts[&fill.order_id].0).or_default().0 += 1,
        AnyMessage::OrderUpdate(update) if update.status.is_final() && update.execution != 0 => {
            if let Some(account) = accounts.get(&update.order_id) {
                sums.entry(account.0).or_default().1 -= 1;
            }
        }
        _ => {}
    });
    sums
}

fn pid(home: &Home, name: &str) -> u32 {
    u32::try_from(number(&home.node("ends", name)["pid"])).expect("a pid")
}

fn killed(home: &Home, wait: &str) -> (Output, Value) {
    let line = ["kill", "--account", "7", "--why", "test", "-i", "ends", "--format", "json", "--wait", wait];
    let output = home.colo(&line);
    let report = serde_json::from_str(&stdout(&output))
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", stdout(&output), stderr(&output)));
    (output, report)
}

/// Both have orders in the market.
fn rest(home: &Home) {
    let rests = |account: u32| {
        let shown = home.json(&["account", "show", &account.to_string(), "-i", "ends", "--format", "json"]);
        number(&shown["open_orders"]) > 3
    };
    home.wait_for("orders at rest", || rests(7) && rests(9));
}

/// A platform whose account 7 was killed while the market took no cancels, with the kill's report. A host that is too slow for
/// the phases tries again with longer ones.
fn killed_in_the_freeze(later: impl Fn(u64) -> Vec<String>) -> (Home, Value) {
    for freeze in [6, 15, 40] {
        let home = up(&later(freeze));
        rest(&home);
        let (output, report) = killed(&home, "100ms");
        if output.status.code() == Some(4) && report["waits"][0]["reason"] == "market-closed" {
            return (home, report);
        }
        println!("the freeze of {freeze} s was over before the kill: {report}");
        down(&home);
    }
    panic!("no kill came before the end of the freeze");
}

#[test]
fn killed_while_no_cancels_are_taken_an_account_does_not_trade_when_the_auction_ends() {
    let (home, report) = killed_in_the_freeze(|freeze| {
        vec![phase(freeze, "opening-auction"), phase(freeze + 4, "continuous")]
    });
    assert_eq!(report["state"], "taken", "{report}");
    let (orders, ended, working) =
        (number(&report["orders"]), number(&report["ended"]), number(&report["working"]));
    assert!(working > 0 && orders == ended + working, "{report}");
    assert_eq!(report["waits"][0]["orders"], report["working"], "{report}");
    // A strategy dies in the same phase, and td after it.
    kill(pid(&home, "dying-1"), "KILL");
    home.wait_for("its end", || home.node("ends", "dying-1")["state"] == "failed");
    let before = pid(&home, "td");
    kill(before, "KILL");
    home.wait_for("its successor", || pid(&home, "td") != before);
    let (output, again) = killed(&home, "60s");
    assert_eq!((output.status.code(), &again["state"]), (Some(0), &Value::from("again")), "{again}");
    assert_eq!((number(&again["working"]), number(&again["filled"])), (0, 0), "{again}");
    home.wait_for("the end of the auction", || traded(&home).get(&8).is_some_and(|(fills, _)| *fills > 0));
    let sums = traded(&home);
    println!("{sums:?}; {report}; {again}");
    assert_eq!((sums[&7], sums[&9]), ((0, 0), (0, 0)), "no fill, and nothing at work");
    let audit = home.colo(&["audit", "-i", "ends"]);
    assert!(audit.status.success(), "{}{}", stdout(&audit), stderr(&audit));
    down(&home);
}

#[test]
fn where_no_phase_takes_cancels_before_the_auction_ends_the_kill_says_so_and_its_orders_end_behind_it() {
    let (home, report) = killed_in_the_freeze(|freeze| vec![phase(freeze, "continuous")]);
    let kill_again = ["kill", "--account", "7", "--why", "test", "-i", "ends", "--wait", "60s"];
    let waiting = home.command(&kill_again).spawn().expect("colo starts");
    std::thread::sleep(std::time::Duration::from_millis(700));
    kill(waiting.id(), "INT");
    let interrupted = waiting.wait_with_output().expect("its output");
    // On a slow host the auction may have ended in between.
    let code = interrupted.status.code();
    assert!(code == Some(130) || code == Some(0), "{code:?}: {}", stderr(&interrupted));
    if code == Some(130) {
        let said = stdout(&interrupted);
        assert!(said.contains("it was killed before; what still works is cancelled again"), "{said}");
        assert!(said.contains("the market takes no cancels in this phase"), "{said}");
        assert!(said.contains("td sends the cancels again"), "{said}");
    }
    let (output, again) = killed(&home, "60s");
    assert_eq!((output.status.code(), number(&again["working"])), (Some(0), 0), "{report}, {again}");
    assert_eq!(traded(&home)[&7].1, 0, "nothing of it works");
    down(&home);
}
