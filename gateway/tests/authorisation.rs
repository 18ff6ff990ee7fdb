//! Who may what: every route of the document with a token for another account, rates, and no secret where others read.

mod support;

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Platform, WATCHDOG, order, platform};

/// Routes of the document that show nobody's: the market's, and the platform's own.
const COMMON: &[&str] = &[
    "/health",
    "/openapi.json",
    "/v1/instruments",
    "/v1/instruments/{symbol}",
    "/v1/quotes/{symbol}",
    "/v1/book/{symbol}",
    "/v1/trades/{symbol}",
    "/v1/bars/{symbol}",
];

/// The body of an order of account 8.
fn other(name: &str, price: &str) -> String {
    order(name, "buy", 3, price).replace("\"account\":9", "\"account\":8")
}

/// What a client that knows everything about account 8 would send.
fn body_of(method: &str, path: &str) -> String {
    match (method, path) {
        ("POST", "/v1/orders") => other("mine", "97"),
        ("POST", "/v1/orders/batch") => format!(r#"{{"orders":[{}]}}"#, other("mine2", "97")),
        ("PATCH", _) => r#"{"price":"96"}"#.to_owned(),
        ("POST", _) => json!({"account": 8, "why": "not mine"}).to_string(),
        _ => String::new(),
    }
}

#[test]
fn a_token_of_another_account_gets_nothing_on_any_route_of_the_document() {
    let Some(platform) = platform("walk", "") else { return };
    let owner = platform.token(&["owner", "--role", "admin"]);
    let made = platform.ask(&owner, "POST", "/v1/orders", &other("secret-name", "98"));
    assert_eq!(made.status, 201, "{made:?}");
    let id = made.body["order_id"].as_str().unwrap().to_owned();
    let document = platform.ask("", "GET", "/openapi.json", "").body;
    // Every role, held to account 9.
    let tokens: Vec<String> = ["viewer", "trader", "risk", "admin"]
        .iter()
        .map(|role| platform.token(&[role, "--role", role, "--accounts", "9"]))
        .collect();
    let mut walked = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        let filled = path
            .replace("{account}", "8")
            .replace("{client_order_id}", "secret-name")
            .replace("{order_id}", &id)
            .replace("{symbol}", "SIM001");
        assert!(!filled.contains('{'), "{path}: the test knows no value for it");
        for method in methods.as_object().unwrap().keys() {
            let method = method.to_uppercase();
            let is_open = ["/health", "/openapi.json"].contains(&path.as_str());
            let nobody = platform.ask("", &method, &filled, &body_of(&method, path));
            let is_handshake = path == "/v1/ws";
            assert!(
                is_open || is_handshake || nobody.status == 401,
                "{method} {path} without a token: {nobody:?}"
            );
            if COMMON.contains(&path.as_str()) || is_handshake {
                continue;
            }
            for token in &tokens {
                // With the account in the query too, where there is one.
                for target in [filled.clone(), format!("{filled}?account=8")] {
                    let answer = platform.ask(token, &method, &target, &body_of(&method, path));
                    let text = answer.body.to_string();
                    let shows = [id.as_str(), "secret-name", "\"account\":8"]
                        .iter()
                        .any(|word| text.contains(word) && !text.contains(&format!("{word}, or not")));
                    // What is refused may name what was asked for, and nothing else of it.
                    let is_refused = matches!(answer.status, 400 | 403 | 404)
                        || answer.body["results"][0]["status"] == 403;
                    assert!(is_refused || !shows, "{method} {target}: {answer:?}");
                    assert!(
                        answer.body["quantity"].is_null() && answer.body["order"].is_null(),
                        "{answer:?}"
                    );
                    walked += 1;
                }
            }
        }
    }
    assert!(walked > 60, "{walked}");
    // Nothing has happened to it, and no other order is there.
    let all = platform.ask(&owner, "GET", "/v1/orders?account=8", "").body;
    let orders = all["orders"].as_array().unwrap();
    assert_eq!(orders.len(), 1, "{all}");
    assert_eq!((&orders[0]["working"], &orders[0]["price"]), (&true.into(), &"98".into()), "{all}");
    // A WebSocket hears nothing of it either.
    for token in &tokens {
        let mut socket = platform.socket(token);
        socket.say(r#"{"subscribe":[{"channel":"orders","from":0},{"channel":"accounts"}],"id":1}"#);
        socket.until("the answer", |message| message["id"] == 1);
        socket.say(r#"{"subscribe":[{"channel":"orders","accounts":[8]}],"id":2}"#);
        let end = socket.until("the refusal", |message| {
            assert!(message["channel"] != "orders" && message["data"]["account"] != 8, "{message}");
            message["id"] == 2
        });
        assert!(end["error"].as_str().unwrap().contains("not for account 8"), "{end}");
    }
}

fn metrics(platform: &Platform, token: &str) -> String {
    match platform.ask(token, "GET", "/metrics", "").body {
        Value::String(text) => text,
        other => panic!("{other}"),
    }
}

#[test]
fn tokens_and_accounts_have_their_rates_and_refusals_are_counted_by_reason() {
    let Some(platform) = platform("rates", "rate = 400\norder_rate = 5") else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let post = |name: &str| platform.ask(&token, "POST", "/v1/orders", &order(name, "buy", 1, "99"));
    let first = post("first");
    assert_eq!(first.status, 201, "{first:?}");
    let mut limited = None;
    for number in 0..200 {
        let answer = post(&format!("r{number}"));
        if answer.status == 429 {
            limited = Some(answer);
            break;
        }
        assert_eq!(answer.status, 201, "{answer:?}");
    }
    let limited = limited.expect("the account's rate");
    assert_eq!(limited.body["type"], "/docs#rate-limited");
    assert!(limited.head.to_lowercase().contains("retry-after: 1"), "{limited:?}");
    // Cancels and replaces of it count too, by either name; the other account has a rate of its own.
    let id = first.body["order_id"].as_str().unwrap();
    let mut statuses = Vec::new();
    for _ in 0..40 {
        statuses.push(platform.ask(&token, "PATCH", &format!("/v1/orders/{id}"), r#"{"price":"98"}"#).status);
        statuses.push(platform.ask(&token, "DELETE", "/v1/clients/9/nothing", "").status);
    }
    assert!(statuses.contains(&429), "{statuses:?}");
    assert_eq!(platform.ask(&token, "POST", "/v1/orders", &other("o", "98")).status, 201);
    // The token's own rate is for everything that it asks.
    let viewer = platform.token(&["v"]);
    let end = Instant::now() + WATCHDOG;
    let mut stream = platform.connect().unwrap();
    let request =
        format!("GET /v1/orders HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {viewer}\r\n\r\n").repeat(2_000);
    let mut reader = stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || stream.write_all(request.as_bytes()));
    let (mut text, mut chunk) = (String::new(), [0; 64 << 10]);
    while !text.contains("HTTP/1.1 429") {
        assert!(Instant::now() < end, "the token's rate");
        let count = reader.read(&mut chunk).unwrap();
        assert!(count > 0, "closed: {text}");
        text.push_str(&String::from_utf8_lossy(&chunk[..count]));
    }
    drop(reader);
    let _ = writer.join();
    let off = platform.ask(&token, "POST", "/v1/orders", &other("off", "98.123"));
    assert_eq!(off.status, 422, "{off:?}");
    let text = metrics(&platform, &token);
    let count = |series: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.and_then(|line| line.parse::<f64>().ok()).unwrap_or(-1.0)
    };
    assert!(count(r#"colo_gateway_problems_total{problem="rate-limited"}"#) >= 2.0, "{text}");
    assert_eq!(count(r#"colo_gateway_problems_total{problem="order-refused"}"#), 1.0, "{text}");
    assert_eq!(count(r#"colo_gateway_order_refusals_total{reason="off-tick"}"#), 1.0, "{text}");
}

#[test]
fn no_secret_is_in_a_log_a_journal_or_an_answer_and_none_is_taken_from_a_url() {
    let Some(platform) = platform("secrets", "") else { return };
    let token = platform.token(&["t", "--role", "admin"]);
    let secret = token.rsplit('_').next().unwrap().to_owned();
    for path in
        [format!("/v1/orders?token={token}"), format!("/v1/orders?access_token={token}"), format!("/{token}")]
    {
        let answer = platform.ask("", "GET", &path, "");
        assert!(matches!(answer.status, 401 | 404), "{path}: {answer:?}");
        assert!(!answer.body.to_string().contains(&secret), "{answer:?}");
    }
    // A browser's way: the answer takes up `colo.v1`, and not the token.
    let head = |more: &str| {
        let mut stream = platform.connect().unwrap();
        write!(
            stream,
            "GET /v1/ws HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\n\
             sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n{more}\r\n",
            platform.port
        )
        .unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        String::from_utf8_lossy(&head).to_lowercase()
    };
    let good = head(&format!("sec-websocket-protocol: colo.v1, colo.token.{token}\r\n"));
    assert!(good.starts_with("http/1.1 101") && good.contains("sec-websocket-protocol: colo.v1"), "{good}");
    assert!(!good.contains(&secret), "{good}");
    let bad = head(&format!("sec-websocket-protocol: colo.v1, colo.token.{token}0\r\n"));
    assert!(bad.starts_with("http/1.1 401") && !bad.contains(&secret), "{bad}");
    platform.ask(&token, "POST", "/v1/orders", &order("a", "buy", 1, "99"));
    platform.ask(&token, "POST", "/v1/orders", &format!("{{\"token\":\"{token}\""));
    platform.ask(&token, "POST", "/v1/kill", r#"{"account":9,"why":"a test"}"#);
    assert!(platform.colo(&["token", "revoke", "t"]).status.success());
    let end = Instant::now() + WATCHDOG;
    while platform.ask(&token, "GET", "/v1/orders", "").status != 401 {
        assert!(Instant::now() < end, "it is revoked");
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut looked_at = 0;
    let mut folders = vec![platform.path(""), platform.shared()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let bytes = std::fs::read(entry.path()).unwrap();
                let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!found, "a secret is in {}", entry.path().display());
                looked_at += 1;
            }
        }
    }
    assert!(looked_at > 15, "{looked_at} files");
}
