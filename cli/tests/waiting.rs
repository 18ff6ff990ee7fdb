//! Relays and doorbells in a whole platform.

mod home;

use std::path::PathBuf;

use serde_json::Value;

use home::{Home, kill, number, stderr};

/// Twenty strategies on one core, with a relay; td reads twenty journals of orders, and so has a doorbell.
const PLATFORM: &str = r#"
[platform]
instance = "wake"

[md]
instruments = 4
interval = "2ms"
count = 0

[[strategies.group]]
name = "takers"
count = 20

[pin]
on_small_host = "remap"

[pin.nodes."takers-*"]
cpu = 1
relay = { cpu = 1 }

[pin.nodes.td]
cpu = 0
keep_awake = true
"#;

fn counter(home: &Home, node: &str, counter: &str) -> u64 {
    number(&home.node("wake", node)["counters"][counter])
}

#[test]
fn a_relay_that_is_killed_leaves_nobody_asleep() {
    let home = Home::new();
    let file = home.root.path().join("wake.toml");
    std::fs::write(&file, PLATFORM).unwrap();
    let file = file.to_str().unwrap();
    let up = home.colo(&["up", file, "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    home.wait_for("wake-ups by the relay", || counter(&home, "relay-1", "relayed") > 100);
    // Its spinner has the lowest priority there is: on a busy host it may not have had its turn for a while.
    let state = home.node("wake", "awake-0")["state"].to_string();
    assert!(state.starts_with("\"running"), "{state}");
    home.wait_for("orders", || counter(&home, "td", "orders") > 100);

    kill(number(&home.node("wake", "relay-1")["pid"]) as u32, "KILL");
    // The writers wake the strategies until the relay is there again.
    let before = counter(&home, "takers-7", "quotes");
    home.wait_for("quotes without a relay", || counter(&home, "takers-7", "quotes") > before + 20);
    home.wait_for("the relay's second start", || {
        let relay = home.node("wake", "relay-1");
        relay["state"] == "running" && number(&relay["starts"]) == 2
    });
    home.wait_for("wake-ups by the new relay", || counter(&home, "relay-1", "relayed") > 100);

    // A relay that leaves in good order, too.
    kill(number(&home.node("wake", "relay-1")["pid"]) as u32, "TERM");
    let before = counter(&home, "takers-7", "quotes");
    home.wait_for("quotes without a relay", || counter(&home, "takers-7", "quotes") > before + 20);

    let status = home.json(&["status", "wake", "--format", "json"]);
    let nodes = status["nodes"].as_array().unwrap();
    let strategies: Vec<&Value> = nodes.iter().filter(|node| node["kind"] == "strategy").collect();
    assert_eq!(strategies.len(), 20);
    for strategy in strategies {
        assert_eq!(number(&strategy["counters"]["gaps"]), 0, "{strategy}");
        assert!(number(&strategy["counters"]["quotes"]) > 0, "{strategy}");
    }
    let down = home.colo(&["down", "wake", "--format", "json"]);
    assert!(down.status.success(), "{}", stderr(&down));
    let left: Vec<PathBuf> = home.left().into_iter().filter(|path| path.is_dir()).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

/// Fast, parked and adaptive writers and readers of one platform: nobody sleeps through a message, and who is adaptive
/// sleeps once nothing comes any more.
#[test]
fn adaptive_nodes_mix_with_fast_and_parked_ones() {
    let home = Home::new();
    let adaptive = "{ adaptive = { spin = '100us' } }";
    let sets = [
        "md.mode=fast".to_owned(),
        "md.count=300".to_owned(),
        "md.interval=3ms".to_owned(),
        format!("td.mode={adaptive}"),
        "matching.mode=parked".to_owned(),
        format!("ledger.mode={adaptive}"),
        format!("strategies.group.takers.mode={adaptive}"),
        "strategies.group.makers.mode=parked".to_owned(),
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let up = home.colo(&[&["up", "--stay"], &sets[..]].concat());
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let count = |node: &Value, name: &str| number(&node["counters"][name]);
    home.wait_for("the end of the source", || home.node("demo", "md")["state"] == "finished");
    assert_eq!(home.node("demo", "md")["mode"], "fast");
    for name in ["td", "ledger", "takers-1", "takers-6"] {
        let node = home.node("demo", name);
        assert_eq!(node["mode"], "adaptive", "{node}");
        assert!(count(&node, "frames_read") > 0 && count(&node, "wakes") > 0, "{node}");
        // Nothing comes: the safety time-out alone ends its sleeps.
        home.wait_for("sleeps of an idle node", || {
            count(&home.node("demo", name), "wait_timeouts") > count(&node, "wait_timeouts") + 2
        });
    }
    let report = home.json(&["down", "--format", "json"]);
    assert_eq!(number(&report["quotes"]), 8 * 300, "{report}");
    assert!(number(&report["orders"]) > 0 && number(&report["fills"]) > 0, "{report}\n{}", home.logs());
    assert_eq!(number(&report["lost"]), 0, "{report}");
    assert_eq!(number(&report["wait_timeouts_with_data"]), 0, "{report}");
}

/// Generators that sleep for an hour, a parked platform that has had nothing to do for a while: a stop finds them all.
#[test]
fn an_idle_platform_stops_by_itself() {
    let home = Home::new();
    let sets = ["--set", "md.generator=threads", "--set", "md.interval=1h", "--set", "md.mode=parked"];
    let up = home.colo(&[&["up", "--stay"], &sets[..]].concat());
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    home.wait_for("sleeps of an idle node", || {
        number(&home.node("demo", "takers-1")["counters"]["wait_timeouts"]) > 3
    });
    let report = home.json(&["down", "--format", "json"]);
    assert_eq!(number(&report["wait_timeouts_with_data"]), 0, "{report}");
    assert!(!home.logs().contains("is killed"), "{}", home.logs());
}

/// With a doorbell, everything that is sent arrives; and with broadcasts too.
#[test]
fn everything_arrives_however_nodes_are_told() {
    for wake in ["targeted", "broadcast"] {
        let home = Home::new();
        let wake = format!("strategies.wake={wake:?}");
        let short = ["--set", "md.count=150", "--set", "strategies.group.takers.count=20"];
        let arguments = [&["up", "--format", "json", "--set", &wake][..], &short].concat();
        let report = home.json(&arguments);
        assert_eq!(number(&report["quotes"]), 8 * 150, "{report}");
        assert!(number(&report["orders"]) > 0, "{report}\n{}", home.logs());
        assert_eq!(number(&report["lost"]), 0, "{report}");
        assert_eq!(number(&report["wait_timeouts_with_data"]), 0, "{report}");
    }
}
