//! Snapshots that outgrow the rings of the ledger: visible while it lasts, and the last whole snapshot stays.

mod support;

use std::io::{Read, Write};
use std::time::Instant;

use node::InstanceDir;
use serde_json::Value;
use support::{Platform, WATCHDOG, order, platform_with};

const RINGS: [&str; 2] = ["ledger.state", "ledger.desk"];

/// Orders of account 9 that nobody trades with.
fn place(platform: &Platform, token: &str, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let answer =
            platform.ask(token, "POST", "/v1/orders", &order(&format!("stays-{number}"), "buy", 1, "95"));
        assert_eq!(answer.status, 201, "{answer:?}");
    }
}

/// The journals that are too small, as the overview has them.
fn troubles(overview: &Value) -> Vec<String> {
    let all = overview["troubles"].as_array().expect("troubles").iter();
    let its = all.filter(|one| one["kind"] == "outgrown");
    let mut found: Vec<String> = its
        .map(|one| {
            assert!(one["detail"].as_str().unwrap().starts_with("raise its capacity to "), "{one}");
            one["who"].as_str().unwrap().to_owned()
        })
        .collect();
    found.sort_unstable();
    found
}

fn metrics(platform: &Platform, token: &str) -> String {
    let mut stream = platform.connect().unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn wait_for(platform: &Platform, what: &str, mut is_there: impl FnMut() -> bool) {
    let end = Instant::now() + WATCHDOG;
    while !is_there() {
        assert!(Instant::now() < end, "no {what}\n{}", platform.log("ledger"));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn snapshots_that_outgrow_their_rings_are_shown_and_leave_the_last_whole_one() {
    let more = "[journal.ledger.state]\ncapacity = \"64KiB\"\n[journal.ledger.desk]\ncapacity = \"64KiB\"\n";
    let Some(platform) = platform_with("outgrown", more, &[]) else { return };
    let (token, viewer) =
        (platform.token(&["t", "--role", "trader"]), platform.token(&["v", "--role", "viewer"]));
    let overview = || platform.ask(&viewer, "GET", "/v1/overview", "").body;
    let instance = InstanceDir::new(&platform.name).unwrap();
    let snapshot = || node::last_snapshot(&instance).unwrap().expect("a whole snapshot");
    let has_desk = || node::last_desk(&instance).unwrap().is_some();
    place(&platform, &token, 0..10);
    assert_eq!(troubles(&overview()), [""; 0]);
    wait_for(&platform, "snapshot with ten orders", || snapshot().orders.len() == 10);
    // Far more than a ring holds.
    place(&platform, &token, 10..800);
    wait_for(&platform, "troubles", || troubles(&overview()) == ["ledger.desk", "ledger.state"]);
    let status = String::from_utf8(platform.colo(&["status", &platform.name]).stdout).unwrap();
    let json = platform.colo(&["status", &platform.name, "--format", "json"]).stdout;
    let json: Value = serde_json::from_slice(&json).unwrap();
    let metrics = metrics(&platform, &viewer);
    for (row, ring) in json["outgrown"].as_array().unwrap().iter().zip(RINGS) {
        assert_eq!((&row["journal"], &row["node"]), (&ring.into(), &"ledger".into()));
        let needs = row["needs_bytes"].as_u64().unwrap();
        assert!(needs >= 256 << 10 && needs.is_power_of_two(), "{row}");
        let words = format!("raise the capacity of [journal.{ring}] to {} KiB or more", needs >> 10);
        assert!(status.contains(&words), "{words}: {status}");
        let series = if ring == RINGS[0] { "state" } else { "desk" };
        assert!(metrics.contains(&format!("colo_node_{series}_needs_bytes{{")), "{metrics}");
    }
    // What does not fit is not written: the last whole one is there, of however few orders.
    for _ in 0..20 {
        assert!(snapshot().orders.len() >= 10 && has_desk());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let answer = platform.ask(&token, "DELETE", "/v1/orders?account=9", "");
    assert!(answer.status < 300, "{answer:?}");
    // Positions remain, and ended orders in the accounts: those are remembered.
    wait_for(&platform, "end of the trouble", || troubles(&overview()) == ["ledger.desk"]);
    wait_for(&platform, "snapshot without orders", || snapshot().orders.is_empty());
    let down = platform.colo(&["down", &platform.name]);
    let text = String::from_utf8(down.stdout).unwrap();
    assert_eq!(down.status.code(), Some(1), "the last state of the accounts is not written: {text}");
    for words in ["raise the capacity of [journal.ledger.desk] to", "are not in the last state of the books"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}
