//! The ledger's snapshots in rings that are too small for them: nothing stands still, and no wrong position is shown.

mod support;

use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Platform, WATCHDOG, order, platform};

/// Sends orders of account 9, a hundred at a time; returns how many were taken.
fn send(platform: &Platform, token: &str, name: &str, count: usize, life: &str) -> usize {
    let one = |number: usize| {
        let body = order(&format!("{name}-{number}"), "buy", 1, "95");
        body.replace('}', &format!(",\"time_in_force\":\"{life}\"}}"))
    };
    let mut taken = 0;
    for batch in (0..count).collect::<Vec<_>>().chunks(100) {
        let orders: Vec<String> = batch.iter().map(|number| one(*number)).collect();
        let body = format!(r#"{{"orders":[{}]}}"#, orders.join(","));
        let answer = platform.ask(token, "POST", "/v1/orders/batch", &body);
        let results = answer.body["results"].as_array().unwrap_or_else(|| panic!("{answer:?}"));
        taken += results.iter().filter(|one| one["status"] == 201).count();
    }
    taken
}

/// td waits for the ledger, the ledger for the recorder, and each of them goes on: snapshots of over a megabyte, of which the ring of
/// two holds one.
#[test]
fn a_snapshot_that_waits_for_room_is_finished_without_news() {
    let more = "[journal]\ncapacity = \"64KiB\"\norders = { capacity = \"1MiB\" }\nledger = { desk = { capacity = \"2MiB\" } }\n[[recorder]]\npath = \"recordings\"\n";
    let Some(platform) = platform("waits", more) else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    assert_eq!(send(&platform, &token, "a", 3_200, "ioc"), 3_200);
    let down = platform.colo(&["down", &platform.name]);
    assert!(down.status.success(), "{}", String::from_utf8_lossy(&down.stderr));
}

fn node(platform: &Platform, name: &str) -> Value {
    let status = platform.colo(&["status", &platform.name, "--format", "json"]);
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let nodes = status["nodes"].as_array().unwrap();
    nodes.iter().find(|node| node["node"] == name).unwrap().clone()
}

/// A successor that finds no whole snapshot does not begin with positions of zero, and no order is taken for ended.
#[test]
fn a_ledger_whose_snapshot_is_lost_does_not_start_with_wrong_positions() {
    let more =
        "[journal.ledger.state]\ncapacity = \"64KiB\"\n[journal.matching.executions]\ncapacity = \"64KiB\"\n";
    let Some(platform) = platform("lost", more) else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    assert_eq!(send(&platform, &token, "w", 700, "day"), 700);
    // So much that executions are overwritten.
    assert_eq!(send(&platform, &token, "x", 1_000, "ioc"), 1_000);
    platform.kill("ledger");
    let end = Instant::now() + WATCHDOG;
    while !platform.log("ledger").contains("positions are lost") {
        assert!(Instant::now() < end, "{}", platform.log("ledger"));
        std::thread::sleep(Duration::from_millis(50));
    }
    while node(&platform, "ledger")["state"] != "failed" {
        assert!(Instant::now() < end, "{}", node(&platform, "ledger"));
        std::thread::sleep(Duration::from_millis(50));
    }
    // The gateway that asks for what works has no answer, and takes nothing for ended.
    platform.kill("gateway");
    platform.until(&token, "/health", |health| health.is_object());
    let gone = platform.ask(&token, "DELETE", "/v1/orders?account=9", "");
    assert_eq!((gone.status, &gone.body["orders"]), (202, &Value::from(700)), "{gone:?}");
    let down = platform.colo(&["down", &platform.name]);
    let text = String::from_utf8_lossy(&down.stdout).into_owned() + &String::from_utf8_lossy(&down.stderr);
    assert!(!down.status.success() && text.contains("ledger"), "{text}");
}
