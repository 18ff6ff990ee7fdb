//! Orders of clients: once each, whoever is killed, and only for those who may.

mod support;

use std::io::{Read, Write};

use serde_json::Value;
use support::{QUOTED, order, platform, platform_with};

#[test]
fn a_retry_is_the_same_order_whoever_was_killed_in_between() {
    let Some(platform) = platform("retry", "") else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    for (round, dead) in [&[][..], &["gateway"], &["td"], &["td", "gateway"]].into_iter().enumerate() {
        let body = order(&format!("r{round}"), "buy", 1, "99");
        let first = platform.ask(&token, "POST", "/v1/orders", &body);
        assert_eq!((first.status, &first.body["status"]), (201, &Value::from("accepted")), "{first:?}");
        dead.iter().for_each(|node| platform.kill(node));
        let again = platform.ask(&token, "POST", "/v1/orders", &body);
        assert_eq!(again.status, 200, "{round}: {again:?}");
        assert_eq!(again.body["order_id"], first.body["order_id"], "{round}");
        assert_eq!(again.body["status"], "accepted", "it works on: {again:?}");
        let other = platform.ask(&token, "POST", "/v1/orders", &order(&format!("r{round}"), "sell", 1, "99"));
        assert_eq!(
            (other.status, &other.body["type"]),
            (409, &Value::from("/docs#client-id-used")),
            "{other:?}"
        );
    }
    let all = platform.ask(&token, "GET", "/v1/orders?working=true", "");
    assert_eq!(all.body["orders"].as_array().unwrap().len(), 4, "each once: {all:?}");
    let audit = platform.colo(&["audit", &platform.name]);
    assert!(audit.status.success(), "{}", String::from_utf8_lossy(&audit.stdout));
}

#[test]
fn orders_are_changed_cancelled_refused_and_traded() {
    let Some(platform) = platform("life", "") else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let ask = |method: &str, path: &str, body: &str| platform.ask(&token, method, path, body);
    assert_eq!(ask("POST", "/v1/orders", &order("a", "buy", 5, "99.5")).status, 201);
    let changed = ask("PATCH", "/v1/clients/9/a", r#"{"price":"99.4","quantity":4}"#);
    assert_eq!((changed.status, &changed.body["price"]), (200, &Value::from("99.4")), "{changed:?}");
    // The other account trades with it.
    let sale = order("b", "sell", 3, "99.4").replace("\"account\":9", "\"account\":8");
    let sold = ask("POST", "/v1/orders", &sale);
    assert_eq!(sold.status, 201, "{sold:?}");
    // The answer is td's first word; the trade follows.
    let bought = platform.until(&token, "/v1/clients/9/a", |order| order["filled"] == 3);
    assert_eq!(
        (&bought["status"], &bought["remaining"]),
        (&"partially-filled".into(), &1.into()),
        "{bought}"
    );
    platform.until(&token, "/v1/positions?account=9", |positions| positions["positions"][0]["quantity"] == 3);
    let gone = ask("DELETE", "/v1/clients/9/a", "");
    assert_eq!((gone.status, &gone.body["status"]), (200, &Value::from("cancelled")), "{gone:?}");
    assert_eq!(ask("DELETE", "/v1/clients/9/a", "").body["type"], "/docs#order-ended");
    let refused = ask("POST", "/v1/orders", &order("c", "buy", 1, "99.123"));
    assert_eq!((refused.status, &refused.body["reason"]), (422, &Value::from("off-tick")), "{refused:?}");
    assert_eq!(refused.body["reason_code"], 4);
    assert_eq!(ask("GET", "/v1/clients/9/never", "").status, 404);
    let batch = format!(r#"{{"orders":[{},{}]}}"#, order("d", "buy", 1, "98"), order("e", "buy", 1, "1"));
    let batch = ask("POST", "/v1/orders/batch", &batch);
    let statuses: Vec<u64> =
        batch.body["results"].as_array().unwrap().iter().map(|one| one["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [201, 422], "{batch:?}");
    let all = ask("DELETE", "/v1/orders?account=9", "");
    assert_eq!((all.status, &all.body["orders"]), (202, &Value::from(1)), "{all:?}");
}

/// Of requests that are the same and come together, one has made the order.
#[test]
fn the_same_order_from_many_at_once_is_one_order() {
    let Some(platform) = platform("together", "") else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    for round in 0..5 {
        let body = order(&format!("m{round}"), "buy", 1, "95");
        let answers: Vec<_> = std::thread::scope(|scope| {
            let ask = || platform.ask(&token, "POST", "/v1/orders", &body);
            let askers: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
            askers.into_iter().map(|asker| asker.join().unwrap()).collect()
        });
        let made = answers.iter().filter(|answer| answer.status == 201).count();
        let again = answers.iter().filter(|answer| answer.status == 200).count();
        assert_eq!((made, again), (1, 15), "{answers:?}");
        assert!(answers.iter().all(|answer| answer.body["order_id"] == answers[0].body["order_id"]));
    }
}

#[test]
fn an_order_has_the_terms_that_its_client_asks_for() {
    let Some(platform) = platform("terms", "") else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let ask = |method: &str, path: &str, body: &str| platform.ask(&token, method, path, body);
    let with = |name: &str, side: &str, quantity: u32, price: &str, terms: &str| {
        order(name, side, quantity, price).replace('}', &format!(",{terms}}}"))
    };
    let shown = [
        (r#""display":2"#, "display", Value::from(2)),
        (r#""minimum":2"#, "minimum", Value::from(2)),
        (
            r#""time_in_force":"gtd","ends_ns":4102444800000000000"#,
            "ends_ns",
            Value::from(4_102_444_800_000_000_000_u64),
        ),
        (r#""post_only":true"#, "post_only", Value::from(true)),
        (r#""self_trade":"cancel-both""#, "self_trade", Value::from("cancel-both")),
    ];
    for (at, (terms, name, value)) in shown.into_iter().enumerate() {
        let body = with(&format!("s{at}"), "buy", 4, "95", terms);
        let sent = ask("POST", "/v1/orders", &body);
        assert!(sent.status == 201 || name == "minimum", "{name}: {sent:?}");
        let again = ask("POST", "/v1/orders", &body);
        assert!(again.body["order_id"] == sent.body["order_id"], "{name}: {again:?}");
        let order = ask("GET", &format!("/v1/clients/9/s{at}"), "");
        assert_eq!(order.body[name], value, "{order:?}");
    }
    assert_eq!(ask("DELETE", "/v1/orders?account=9", "").status, 202);
    // Of ten, the market sees two.
    assert_eq!(ask("POST", "/v1/orders", &with("ice", "sell", 10, "97", r#""display":2"#)).status, 201);
    platform.until(&token, "/v1/quotes/SIM001", |quote| {
        quote["asks"][0]["price"] == "97" && quote["asks"][0]["quantity"] == 2
    });
    // More than there is at least: nothing trades.
    let eight = |body: String| body.replace("\"account\":9", "\"account\":8");
    let body = eight(with("min", "buy", 20, "97", r#""minimum":15"#));
    ask("POST", "/v1/orders", &body);
    let order = platform.until(&token, "/v1/clients/8/min", |order| order["working"] == false);
    assert_eq!(order["filled"], 0, "{order}");
    // Its owner's other order goes, and they do not trade.
    assert_eq!(
        ask("POST", "/v1/orders", &with("own", "buy", 1, "97", r#""self_trade":"cancel-oldest""#)).status,
        201
    );
    let order = platform.until(&token, "/v1/clients/9/ice", |order| order["working"] == false);
    assert_eq!((&order["filled"], &order["status"]), (&0.into(), &"cancelled".into()), "{order}");
    for (terms, part) in [
        (r#""display":5"#, "`display`: it must be greater than 0 and not more than the order's quantity"),
        (r#""display":0"#, "`display`"),
        (r#""ends_ns":4102444800000000000"#, "`ends_ns` goes with the time in force `gtd` only"),
        (r#""time_in_force":"gtd""#, "the time in force `gtd` needs `ends_ns`"),
        (r#""time_in_force":"gtd","ends_ns":4102444800000000001"#, "whole second"),
        (r#""self_trade":"never""#, "one of cancel-newest"),
        (r#""displai":1"#, "displai"),
    ] {
        let refused = ask("POST", "/v1/orders", &with("no", "buy", 4, "95", terms));
        assert_eq!(refused.status, 400, "{terms}: {refused:?}");
        assert!(refused.body["detail"].as_str().unwrap().contains(part), "{terms}: {refused:?}");
    }
    assert_eq!(ask("GET", "/v1/clients/9/no", "").status, 404, "nothing was sent");
    let audit = platform.colo(&["audit", &platform.name]);
    assert!(audit.status.success(), "{}", String::from_utf8_lossy(&audit.stdout));
}

#[test]
fn a_token_may_what_its_role_and_accounts_say_until_it_is_revoked() {
    let Some(platform) = platform("tokens", "") else { return };
    let (viewer, trader) =
        (platform.token(&["v"]), platform.token(&["t", "--role", "trader", "--accounts", "9"]));
    let risk = platform.token(&["r", "--role", "risk"]);
    assert_eq!(platform.ask("", "GET", "/health", "").status, 200);
    let none = platform.ask("", "GET", "/v1/orders", "");
    assert_eq!((none.status, &none.body["type"]), (401, &Value::from("/docs#unauthorised")));
    assert!(none.head.contains("application/problem+json"), "{none:?}");
    let post = |token: &str, body: &str| platform.ask(token, "POST", "/v1/orders", body).status;
    assert_eq!(post(&viewer, &order("a", "buy", 1, "99")), 403);
    assert_eq!(post(&risk, &order("a", "buy", 1, "99")), 403);
    assert_eq!(post(&trader, &order("a", "buy", 1, "99")), 201);
    let others = order("b", "buy", 1, "99").replace("\"account\":9", "\"account\":8");
    assert_eq!(post(&trader, &others), 403);
    // An order of another account is not to be told from none.
    let all = platform.token(&["all", "--role", "trader"]);
    let made = platform.ask(&all, "POST", "/v1/orders", &others);
    let path = format!("/v1/orders/{}", made.body["order_id"].as_str().unwrap());
    for method in ["GET", "DELETE"] {
        assert_eq!(platform.ask(&trader, method, &path, "").status, 404);
    }
    let accounts = platform.ask(&trader, "GET", "/v1/accounts", "");
    assert_eq!(accounts.body["accounts"].as_array().unwrap().len(), 1, "{accounts:?}");
    assert_eq!(platform.ask(&trader, "GET", "/v1/status", "").status, 403);
    let why = r#"{"account":9,"why":"a test"}"#;
    assert_eq!(platform.ask(&trader, "POST", "/v1/kill", why).status, 403);
    assert_eq!(platform.ask(&risk, "POST", "/v1/kill", why).status, 200);
    let killed = platform.ask(&trader, "POST", "/v1/orders", &order("k", "buy", 1, "99"));
    assert_eq!((killed.status, &killed.body["reason"]), (422, &Value::from("killed")), "{killed:?}");
    assert_eq!(platform.ask(&risk, "POST", "/v1/revive", why).status, 200);
    assert_eq!(post(&trader, &order("l", "buy", 1, "99")), 201);
    let mut socket = platform.socket(&trader);
    assert!(platform.colo(&["token", "revoke", "t"]).status.success());
    // The WebSocket is closed with a code, and nothing else is let in.
    let code = loop {
        let (kind, payload) = socket.frame();
        if kind == 8 {
            break u16::from_be_bytes([payload[0], payload[1]]);
        }
    };
    assert_eq!(code, 4003);
    assert_eq!(platform.ask(&trader, "GET", "/v1/orders", "").status, 401);
    let log = platform.log("gateway");
    assert!(
        !log.contains(&trader) && !log.contains(trader.rsplit('_').next().unwrap()),
        "no secret in the log"
    );
    // Whose an order was stands beside it.
    let tail = platform.colo(&[
        "journal",
        "tail",
        "orders.gateway",
        "--instance",
        &platform.name,
        "--format",
        "json",
    ]);
    let text = String::from_utf8_lossy(&tail.stdout);
    assert!(
        text.contains("ClientOrder") && text.contains("127.0.0.1:"),
        "{text}\n{}",
        String::from_utf8_lossy(&tail.stderr)
    );
}

#[test]
fn who_begins_as_http_2_does_is_spoken_to_so_however_it_is_cut() {
    use std::io::{Read, Write};
    let Some(platform) = platform("second", "") else { return };
    let begin = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";
    for cut in [1, 2, 10] {
        let mut stream = platform.connect().unwrap();
        stream.set_nodelay(true).unwrap();
        stream.write_all(&begin[..cut]).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(30));
        stream.write_all(&begin[cut..]).unwrap();
        let mut frame = [0; 9];
        stream.read_exact(&mut frame).unwrap();
        assert_eq!(frame[3], 4, "its settings: {frame:?}");
    }
    // POST begins with the same letter.
    let mut stream = platform.connect().unwrap();
    stream.set_nodelay(true).unwrap();
    stream.write_all(b"P").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(30));
    stream.write_all(b"OST /v1/orders HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n").unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 401");
}

#[test]
fn a_filter_that_is_none_cancels_nothing() {
    let Some(platform) = platform("filter", "") else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    assert_eq!(platform.ask(&token, "POST", "/v1/orders", &order("a", "buy", 1, "99")).status, 201);
    for (method, path) in [
        ("DELETE", "/v1/orders?symbl=SIM002&account=9"),
        ("DELETE", "/v1/orders?account=8&account=9"),
        ("DELETE", "/v1/orders?Account=9"),
        ("GET", "/v1/orders?acount=9"),
        ("GET", "/v1/accounts?account=9"),
    ] {
        let answer = platform.ask(&token, method, path, "");
        assert_eq!(answer.status, 400, "{method} {path}: {answer:?}");
    }
    let working = platform.ask(&token, "GET", "/v1/orders?working=true", "").body;
    assert_eq!(working["orders"].as_array().map(Vec::len), Some(1), "{working}");
    // Nor is an array an order, its fields in some order.
    for body in ["[]", "[\"a\",9]", "null", "\"a\""] {
        assert_eq!(platform.ask(&token, "POST", "/v1/orders", body).status, 400, "{body}");
    }
    assert_eq!(platform.ask(&token, "GET", "/v1/orders?limit=1001", "").status, 400);
    let head = platform.try_ask(&token, "HEAD", "/v1/orders", "").unwrap();
    assert_eq!((head.status, head.body), (200, Value::String(String::new())));
    let mut stream = platform.connect().unwrap();
    write!(stream, "GET /v1/status HTTP/1.1\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 400"), "{text}");
    // Nor is an empty name one that a second try could go by.
    let unnamed = platform.ask(&token, "POST", "/v1/orders", &order("", "buy", 1, "99"));
    assert_eq!(unnamed.status, 400, "{unnamed:?}");
}

#[test]
fn an_account_is_left_out_where_token_and_gateway_have_one_in_common() {
    let Some(platform) = platform("common", "") else { return };
    let unsaid =
        |name: &str| order(name, "buy", 1, "99").replace("\"account\":9,", "").replace(",\"account\":9", "");
    let some = platform.token(&["some", "--role", "trader", "--accounts", "7,9"]);
    let made = platform.ask(&some, "POST", "/v1/orders", &unsaid("a"));
    assert_eq!((made.status, &made.body["account"]), (201, &9.into()), "{made:?}");
    let all = platform.token(&["all", "--role", "trader"]);
    let refused = platform.ask(&all, "POST", "/v1/orders", &unsaid("b"));
    assert_eq!(refused.status, 400);
    assert!(refused.body["detail"].as_str().unwrap().contains("8, 9"), "{refused:?}");
}

/// For each kind of market.
#[test]
fn a_mass_cancel_ends_the_orders_that_it_counts_and_no_others() {
    for (market, changes) in [("exchange", &[][..]), ("quotes", QUOTED)] {
        let Some(platform) = platform_with(&format!("mass-{market}"), "", changes) else { return };
        let token = platform.token(&["t", "--role", "trader"]);
        let listed = platform.until(&token, "/v1/instruments", |list| {
            list["instruments"].as_array().is_some_and(|list| list.len() == 2)
        });
        let instrument = &listed["instruments"][0];
        // Far from the market and within td's price band, so that it rests.
        let low = "92";
        let symbol = instrument["symbol"].as_str().unwrap().to_owned();
        let post = |name: &str, account: u32| {
            let body = order(name, "buy", 1, low)
                .replace("SIM001", &symbol)
                .replace("\"account\":9", &format!("\"account\":{account}"));
            let answer = platform.ask(&token, "POST", "/v1/orders", &body);
            assert_eq!(answer.status, 201, "{market}: {answer:?}");
        };
        for number in 0..3 {
            post(&format!("n{number}"), 9);
            post(&format!("e{number}"), 8);
        }
        let delete = |query: &str| {
            let answer = platform.ask(&token, "DELETE", &format!("/v1/orders{query}"), "");
            assert_eq!(answer.status, 202, "{market}: {answer:?}");
            answer.body["orders"].as_u64().unwrap()
        };
        assert_eq!(delete("?account=9&side=sell"), 0, "{market}");
        assert_eq!(delete("?account=9&side=buy"), 3, "{market}");
        for number in 0..3 {
            platform
                .until(&token, &format!("/v1/clients/9/n{number}"), |order| order["status"] == "cancelled");
        }
        let left = platform.ask(&token, "GET", "/v1/orders?working=true", "");
        assert_eq!(left.body["orders"].as_array().unwrap().len(), 3, "{market}: {left:?}");
        assert_eq!(delete(&format!("?symbol={symbol}")), 3, "{market}");
        for number in 0..3 {
            platform
                .until(&token, &format!("/v1/clients/8/e{number}"), |order| order["status"] == "cancelled");
        }
        assert_eq!(delete(""), 0, "{market}");
    }
}

/// The market refuses cancels for some seconds: what a mass cancel covers is owed its end, also by a gateway that was killed meanwhile.
#[test]
fn what_a_mass_cancel_covers_ends_although_its_market_takes_no_cancels_at_first() {
    let phases = "rules = \"shanghai\"\n[[matching.phases]]\nafter = \"0s\"\nphase = \"opening-freeze\"\n\
                  [[matching.phases]]\nafter = \"6s\"\nphase = \"continuous\"";
    let changes = [("[[matching.phases]]\nafter = \"0s\"\nphase = \"continuous\"", phases)];
    let Some(platform) = platform_with("frozen", "", &changes) else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let first = platform.ask(&token, "POST", "/v1/orders", &order("a", "buy", 100, "95"));
    assert_eq!(first.status, 201, "{first:?}");
    let all = platform.ask(&token, "DELETE", "/v1/orders?account=9", "");
    assert_eq!((all.status, &all.body["orders"]), (202, &Value::from(1)), "{all:?}");
    platform.kill("gateway");
    platform.until(&token, "/v1/clients/9/a", |order| order["status"] == "cancelled");
    // A later order is none of the mass cancel's.
    assert_eq!(platform.ask(&token, "POST", "/v1/orders", &order("b", "buy", 100, "95")).status, 201);
    platform.kill("gateway");
    assert_eq!(platform.ask(&token, "GET", "/v1/clients/9/b", "").body["working"], true);
}

#[test]
fn a_recording_of_clients_is_sound_by_the_audit() {
    let recorder = "[[recorder]]\npath = \"recordings\"\n";
    let Some(platform) = platform("recorded", recorder) else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let risk = platform.token(&["r", "--role", "risk"]);
    let ask = |method: &str, path: &str, body: &str| platform.ask(&token, method, path, body);
    assert_eq!(ask("POST", "/v1/orders", &order("a", "buy", 5, "99.5")).status, 201);
    let changes = |price: &str| {
        let changed = ask("PATCH", "/v1/clients/9/a", &format!(r#"{{"price":"{price}","quantity":4}}"#));
        (changed.status, changed.body["reason"].clone())
    };
    assert_eq!(changes("99.4").0, 200);
    assert_eq!(changes("99.123"), (422, "off-tick".into()));
    platform.kill("td");
    platform.kill("gateway");
    assert_eq!(changes("99.123"), (422, "off-tick".into()));
    let sale = order("b", "sell", 3, "99.4").replace("\"account\":9", "\"account\":8");
    assert_eq!(ask("POST", "/v1/orders", &sale).status, 201);
    let why = r#"{"account":9,"why":"a test"}"#;
    assert_eq!(platform.ask(&risk, "POST", "/v1/kill", why).status, 200);
    assert_eq!(ask("POST", "/v1/orders", &order("c", "buy", 1, "99")).body["reason"], "killed");
    assert_eq!(platform.ask(&risk, "POST", "/v1/revive", why).status, 200);
    assert_eq!(ask("DELETE", "/v1/orders?account=8", "").status, 202);
    let down = platform.colo(&["down", &platform.name]);
    assert!(down.status.success(), "{}", String::from_utf8_lossy(&down.stdout));
    let folder = platform.path("recordings").display().to_string();
    let audit = platform.colo(&["audit", "--recording", &folder, "--format", "json"]);
    let report: Value = serde_json::from_slice(&audit.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&audit.stderr)));
    assert_eq!((audit.status.code(), &report["verdict"]), (Some(0), &"same".into()), "{report:#}");
    let refusals =
        report["parts"].as_array().unwrap().iter().find(|part| part["part"] == "refusals").unwrap();
    assert!(
        refusals["checked"].as_u64() >= Some(3) && refusals["notes"] == serde_json::json!([]),
        "{refusals:#}"
    );
}
