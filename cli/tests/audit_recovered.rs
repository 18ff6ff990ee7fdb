//! An audit of what a recovered platform has recorded: rings that had gone round begin in the middle of their lives.

mod home;

use home::{Home, kill, number, stderr, stdout};

/// `td.orders` goes round in a second; the drop copy has all.
const CONFIG: &str = r#"
[platform]
instance = "desk"
[md]
source = "exchange"
instruments = 2
[[matching.phases]]
after = "0s"
phase = "continuous"
[journal]
capacity = "8MiB"
td.orders.capacity = "64KiB"
td.drops.capacity = "64MiB"
[desk]
mark_every = "20ms"
limits = { order_rate = "100000", gross_notional = 1000000000, reject_rate = "100000/100000" }
[[desk.margins]]
long = "0.1"
short = "0.1"
[[accounts]]
number = 7
deposit = 10000000
[strategies]
instruments = "all"
accounts = [7]
[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 2
params = { quantity = 10, half_spread_ticks = 2, max_position = 500, refresh_ms = 10, post_only = false, opens = true }
[[strategies.group]]
name = "noise"
program = "builtin:noise"
count = 2
params = { every_ms = 2, depth_ticks = 2 }
"#;

/// Requests that have left `td.orders` when the platform dies.
const ROUND: u64 = 2_000;

#[test]
fn rings_that_had_gone_round_before_a_recovery_are_parts_and_no_faults() {
    let home = Home::new();
    let path = home.state_path().join("desk.toml");
    let recordings = home.state_path().join("recordings");
    let folder = recordings.display().to_string();
    let recorder = format!("[[recorder]]\npath = \"{folder}\"\njournals = [\"all\"]\n");
    std::fs::write(&path, CONFIG.to_owned() + &recorder).expect("the platform file");
    let up = |arguments: &[&str]| {
        let up = home.colo(&[&["up"], arguments, &["--stay"]].concat());
        assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    };
    up(&[&path.display().to_string()]);
    let status = || home.json(&["status", "--format", "json"]);
    home.wait_for("orders", || number(&status()["totals"]["orders"]) > ROUND);
    // Master is among them, and the first: it starts no other again.
    for node in status()["nodes"].as_array().expect("nodes") {
        kill(u32::try_from(number(&node["pid"])).expect("a pid"), "KILL");
    }
    home.wait_for("their end", || status()["phase"] == "dead");
    assert!(home.colo(&["journal", "clean", "desk"]).status.success());
    up(&["--recover", &folder]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    let down = home.colo(&["down"]);
    assert!(down.status.success(), "{}\n{}", stderr(&down), home.logs());
    let mut runs: Vec<_> = std::fs::read_dir(recordings.join("desk"))
        .expect("the recordings")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    runs.sort();
    let audit = home.colo(&["audit", "--recording", &runs.last().expect("two").display().to_string()]);
    // The audit names the parts that it could not check.
    assert_eq!(audit.status.code(), Some(5), "{}\n{}", stdout(&audit), stderr(&audit));
}
