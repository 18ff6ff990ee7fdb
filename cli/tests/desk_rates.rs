//! Rates of accounts hold over the death of td: its successor allows no other burst.

mod home;

use std::collections::BTreeMap;

use journal::{Journal, JournalFiles};
use wire::{DROP_REFUSED, DROP_TAKEN, Message, NewOrder};

use home::{Home, kill, number, stderr};

/// A rate of zero lets the burst through and no more: one of account 7, and one of the platform for all.
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
snapshot = "100ms"
[[matching.phases]]
after = "0s"
phase = "continuous"
[journal]
td.drops.capacity = "64MiB"
[desk]
limits = { order_rate = "0/60" }
[[accounts]]
number = 7
kind = "margin"
deposit = 10000000
limits = { order_rate = "0/20" }
[[accounts]]
number = 8
kind = "margin"
deposit = 10000000
[strategies]
instruments = "all"
[[strategies.group]]
name = "small"
program = "builtin:noise"
count = 1
accounts = [7]
params = { every_ms = 5, depth_ticks = 2 }
[[strategies.group]]
name = "large"
program = "builtin:noise"
count = 1
accounts = [8]
params = { every_ms = 5, depth_ticks = 2 }
"#;

/// By account: orders that went out, and those that were refused.
fn counts(home: &Home) -> BTreeMap<u32, [u64; 2]> {
    let folder = home.root.path().join("desk/journals");
    let files = JournalFiles::new(&folder, &folder, "td.drops");
    let journal = Journal::open_read_only(files).expect("the drop copy");
    let mut reader = journal.loose_from_start().expect("its begin");
    let mut counts = BTreeMap::<u32, [u64; 2]>::new();
    while let Ok(Some(frame)) = reader.read() {
        if frame.message_id == NewOrder::ID {
            let order = NewOrder::decode(frame.payload).expect("an order");
            let place = [DROP_TAKEN, DROP_REFUSED].iter().position(|topic| *topic == frame.topic);
            counts.entry(order.account.0).or_default()[place.expect("a topic of the drop copy")] += 1;
        }
    }
    counts
}

#[test]
fn a_killed_td_allows_no_burst_of_an_account_or_of_the_platform() {
    let home = Home::new();
    let path = home.state_path().join("desk.toml");
    std::fs::write(&path, CONFIG).expect("the platform file");
    let up = home.colo(&["up", &path.to_string_lossy(), "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let of = |account: u32| counts(&home).get(&account).copied().unwrap_or_default();
    // In the middle of the burst, behind it, and again.
    home.wait_for("some orders", || of(7)[0] > 8);
    for _ in 0..3 {
        let before = number(&home.node("desk", "td")["pid"]);
        kill(u32::try_from(before).expect("a pid"), "KILL");
        home.wait_for("td's successor", || number(&home.node("desk", "td")["pid"]) != before);
        let refused = [of(7)[1], of(8)[1]];
        home.wait_for("orders that are refused", || of(7)[1] > refused[0] + 5 && of(8)[1] > refused[1] + 5);
    }
    let sent = [of(7)[0], of(8)[0]];
    assert_eq!(sent, [20, 40], "{:?}\n{}", counts(&home), home.logs());
    let down = home.colo(&["down", "desk"]);
    assert!(down.status.success(), "{}", stderr(&down));
}
