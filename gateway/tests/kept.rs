//! Orders that work keep their client however often the ring of the gateway's journal goes round, and a gateway that was killed
//! finds them.

mod support;

use std::collections::BTreeMap;

use serde_json::Value;
use support::{Platform, order, platform_with};

/// The gateway's orders in the smallest ring.
const SMALL: (&str, &str) = ("[strategies]", "[journal.orders]\ncapacity = \"64KiB\"\n[strategies]");
const WORKING: &str = "/v1/orders?working=true&limit=1000";

/// Bytes of it.
const RING: u64 = 64 << 10;

/// Bytes that the gateway's journal has held.
fn written(platform: &Platform) -> u64 {
    let path = platform.instance().find_journal("orders.gateway");
    journal::Journal::open_read_only(path).unwrap().stat().head
}

/// Orders of account 8 that end at once, until the ring has gone round several times.
fn go_round(platform: &Platform, token: &str, name: &str) {
    let (end, mut batch) = (written(platform) + 4 * RING, 0);
    while written(platform) < end {
        let one = |number: usize| {
            format!(
                r#"{{"client_order_id":"{name}-{batch}-{number}","account":8,"symbol":"SIM002","side":"buy","quantity":1,"price":"95","time_in_force":"ioc"}}"#
            )
        };
        let body = (0..50).map(one).collect::<Vec<_>>().join(",");
        let answer = platform.ask(token, "POST", "/v1/orders/batch", &format!(r#"{{"orders":[{body}]}}"#));
        assert_eq!(answer.status, 200, "{answer:?}");
        batch += 1;
    }
}

/// What works, by the clients' names.
fn working(all: &Value) -> BTreeMap<String, Value> {
    let name = |order: &Value| order["client_order_id"].as_str().unwrap_or_default().to_owned();
    all["orders"].as_array().into_iter().flatten().map(|order| (name(order), order.clone())).collect()
}

#[test]
fn orders_that_work_keep_their_client_when_the_ring_goes_round_and_the_gateway_dies() {
    let more = "limits = { max_working_orders = 0 }";
    let Some(platform) = platform_with("kept", more, &[SMALL]) else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let mut ids = BTreeMap::new();
    for number in 0..20 {
        let name = format!("works-{number}");
        let answer = platform.ask(&token, "POST", "/v1/orders", &order(&name, "buy", 2, "95"));
        assert_eq!(answer.status, 201, "{answer:?}");
        ids.insert(name, answer.body);
    }
    // Two orders end with a connection; that of one of them is still there when the gateway dies.
    let mut sockets = Vec::new();
    for name in ["session-a", "session-b"] {
        let mut socket = platform.socket(&token);
        socket.say(r#"{"id":1,"cancel_on_disconnect":true}"#);
        let session = socket.until("the session", |message| message["id"] == 1)["session"].clone();
        let body = order(name, "buy", 1, "94").replacen('{', &format!(r#"{{"session":{session},"#), 1);
        assert_eq!(platform.ask(&token, "POST", "/v1/orders", &body).status, 201);
        sockets.push(socket);
    }
    go_round(&platform, &token, "first");
    sockets.truncate(1);
    platform.until(&token, WORKING, |all| working(all).len() == 21);
    for round in ["second", "third"] {
        go_round(&platform, &token, round);
        platform.kill("gateway");
        let found = platform.until(&token, WORKING, |all| working(all).len() <= 20);
        for (name, before) in &ids {
            let now = &working(&found)[name];
            for field in
                ["order_id", "account", "price", "quantity", "side", "time_in_force", "token", "sent_ns"]
            {
                assert_eq!(now[field], before[field], "{round}, {name}: {field}");
            }
        }
        // The newest first, as before.
        let listed: Vec<u64> =
            found["orders"].as_array().unwrap().iter().map(|one| one["sent_ns"].as_u64().unwrap()).collect();
        assert!(listed.is_sorted_by(|one, other| one >= other), "{listed:?}");
    }
    let first = &ids["works-0"];
    let again = platform.ask(&token, "POST", "/v1/orders", &order("works-0", "buy", 2, "95"));
    assert_eq!((again.status, &again.body["order_id"]), (200, &first["order_id"]), "{again:?}");
    let differs = platform.ask(&token, "POST", "/v1/orders", &order("works-0", "buy", 2, "96"));
    assert_eq!(differs.status, 409, "{differs:?}");
    let path = format!("/v1/orders/{}", first["order_id"].as_str().unwrap());
    assert_eq!(platform.ask(&token, "GET", &path, "").body["client_order_id"], "works-0");
    assert_eq!(platform.ask(&token, "DELETE", &path, "").status, 200);
    // It trades, and its client hears it.
    let mut socket = platform.socket(&token);
    socket.say(r#"{"id":1,"subscribe":[{"channel":"orders","accounts":[9]}]}"#);
    socket.until("the answer", |message| message["id"] == 1);
    let other = order("other", "sell", 2, "95").replace("\"account\":9", "\"account\":8");
    assert_eq!(platform.ask(&token, "POST", "/v1/orders", &other).status, 201);
    socket.until("the fill", |message| {
        message["data"]["client_order_id"] == "works-1" && message["data"]["filled"] == 2
    });
    let ended = platform.ask(&token, "DELETE", "/v1/orders?account=9&side=buy&symbol=SIM001", "");
    assert_eq!((ended.status, &ended.body["orders"]), (202, &18.into()), "{ended:?}");
    platform.until(&token, WORKING, |all| working(all).is_empty());
    let shown = platform.colo(&["account", "show", "9", "-i", &platform.name, "--format", "json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["open_orders"], 0, "{shown}");
    let audit = platform.colo(&["audit", &platform.name]);
    // Not all can be looked at where the ring has gone round.
    let audit = String::from_utf8_lossy(&audit.stdout).into_owned();
    assert!(audit.contains("nothing differs"), "{audit}");
}

#[test]
fn more_orders_than_the_ring_remembers_are_refused_and_none_is_forgotten() {
    let more = "limits = { max_working_orders = 0 }";
    let Some(platform) = platform_with("kept-full", more, &[SMALL]) else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let mut taken = 0;
    let refused = loop {
        let body = order(&format!("works-{taken}"), "buy", 1, "95");
        let answer = platform.ask(&token, "POST", "/v1/orders", &body);
        if answer.status != 201 {
            break answer;
        }
        taken += 1;
        assert!(taken < 1_000, "nothing is refused");
    };
    assert_eq!(refused.status, 503, "{refused:?}");
    let text = refused.body["detail"].as_str().unwrap_or_default();
    assert!(text.contains(&format!("{taken} orders work")) && text.contains("orders.capacity"), "{text}");
    // What works can be changed and ended, and that goes round too.
    let (end, mut number) = (written(&platform) + 3 * RING, 0);
    while written(&platform) < end {
        number += 1;
        let price = format!(r#"{{"price":"94.{:02}"}}"#, 10 + number % 2);
        let answer = platform.ask(&token, "PATCH", "/v1/clients/9/works-0", &price);
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    platform.kill("gateway");
    let found = platform.until(&token, WORKING, |_| true);
    assert_eq!(working(&found).len(), taken);
    assert_eq!(working(&found)["works-0"]["price"], format!("94.1{}", number % 2).trim_end_matches('0'));
    assert_eq!(platform.ask(&token, "DELETE", "/v1/clients/9/works-0", "").status, 200);
    assert_eq!(platform.ask(&token, "POST", "/v1/orders", &order("next", "buy", 1, "95")).status, 201);
    assert_eq!(platform.ask(&token, "POST", "/v1/orders", &order("more", "buy", 1, "95")).status, 503);
}
