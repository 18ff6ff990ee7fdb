//! A gateway that dies and is not started again leaves no order at work.

mod support;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Platform, WATCHDOG, order, platform, platform_with};

/// Orders of account 9 that nobody trades with.
fn place(platform: &Platform, count: usize) {
    let token = platform.token(&["t", "--role", "trader"]);
    for number in 0..count {
        let body = order(&format!("stays-{number}"), "buy", 1, "95");
        let answer = platform.ask(&token, "POST", "/v1/orders", &body);
        assert_eq!(answer.status, 201, "{answer:?}");
    }
}

fn open_orders(platform: &Platform) -> u64 {
    let shown = platform.colo(&["account", "show", "9", "-i", &platform.name, "--format", "json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    shown["open_orders"].as_u64().unwrap()
}

#[test]
fn a_gateway_that_dies_for_good_leaves_no_order_at_work() {
    let Some(platform) = platform("given-up", "restart = \"never\"") else { return };
    place(&platform, 10);
    assert_eq!(open_orders(&platform), 10);
    platform.kill("gateway");
    // td may die with it.
    platform.kill("td");
    let end = Instant::now() + WATCHDOG;
    while open_orders(&platform) > 0 {
        assert!(Instant::now() < end, "{} orders work on\n{}", open_orders(&platform), platform.log("td"));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What works at the end of the recording, by the executions: orders that were accepted and have not ended.
fn left_at_work(platform: &Platform) -> Vec<String> {
    let folder = platform.path("recordings").join(&platform.name);
    let newest = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let newest = newest.filter(|path| path.is_dir()).max().unwrap();
    let dump = platform.colo(&[
        "journal",
        "dump",
        "matching.executions",
        "--recording",
        newest.to_str().unwrap(),
        "--format",
        "json",
    ]);
    let text = String::from_utf8(dump.stdout).unwrap();
    let mut works: BTreeMap<String, bool> = BTreeMap::new();
    for line in text.lines() {
        let frame: Value = serde_json::from_str(line).unwrap();
        let fields = &frame["fields"];
        let Some(id) = fields["order_id"].as_str() else { continue };
        match fields["status"].as_str() {
            Some("accepted") => works.insert(id.to_owned(), true),
            Some("cancelled" | "filled" | "expired") => works.insert(id.to_owned(), false),
            _ => None,
        };
    }
    assert_eq!(works.len(), 10, "{text}");
    works.into_iter().filter(|(_, works)| *works).map(|(id, _)| id).collect()
}

#[test]
fn a_stop_right_after_the_death_of_the_gateway_leaves_no_order_at_work() {
    // Before it is started again, or perhaps just after; also where orders are to outlast a clean stop: which of them end with a
    // connection the gateway alone knows.
    for (test, backoff, more) in
        [("stop-a", "1h", ""), ("stop-b", "0s", ""), ("stop-c", "1h", "cancel_on_stop = false\n")]
    {
        let more = format!("{more}[[recorder]]\npath = \"recordings\"\n");
        let backoff = ("restart_backoff = \"0s\"\nMORE", format!("restart_backoff = \"{backoff}\"\nMORE"));
        let Some(platform) = platform_with(test, &more, &[(backoff.0, &backoff.1)]) else { return };
        place(&platform, 10);
        platform.kill("gateway");
        let down = platform.colo(&["down", &platform.name]);
        assert!(down.status.success(), "{}", String::from_utf8_lossy(&down.stdout));
        assert_eq!(left_at_work(&platform), [""; 0], "{test}");
    }
}

/// With master dead too, `colo down` announces the dead gateway.
#[test]
fn a_stop_behind_the_deaths_of_gateway_and_master_leaves_no_order_at_work() {
    for (test, order) in [("both-a", ["gateway", "master"]), ("both-b", ["master", "gateway"])] {
        let backoff = [("restart_backoff = \"0s\"\nMORE", "restart_backoff = \"1h\"\nMORE")];
        let more = "[[recorder]]\npath = \"recordings\"\n";
        let Some(platform) = platform_with(test, more, &backoff) else { return };
        place(&platform, 10);
        order.iter().for_each(|node| platform.kill(node));
        platform.colo(&["down", &platform.name]);
        assert_eq!(left_at_work(&platform), [""; 0], "{test}");
    }
}
