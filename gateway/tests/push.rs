//! WebSockets: what is pushed, and to whom; what is lost is announced.

mod support;

use std::time::{Duration, Instant};

use serde_json::Value;
use support::{WATCHDOG, order, platform, platform_with};

#[test]
fn own_orders_are_pushed_and_resumed_by_their_sequence_after_a_kill() {
    let Some(platform) = platform("resume", "") else { return };
    let token = platform.token(&["t", "--role", "trader", "--accounts", "9"]);
    let mut socket = platform.socket(&token);
    socket.say(r#"{"subscribe":[{"channel":"orders"},{"channel":"quotes"}],"id":1}"#);
    let said = socket.until("the answer", |message| message["id"] == 1);
    assert_eq!(said["subscribed"], serde_json::json!(["orders", "quotes"]));
    platform.ask(&token, "POST", "/v1/orders", &order("a", "buy", 2, "99"));
    let told = socket.until("the order", |message| message["channel"] == "orders");
    assert_eq!(
        (&told["data"]["client_order_id"], &told["data"]["status"]),
        (&"a".into(), &"accepted".into())
    );
    // The latest quote comes with the subscription, to whoever comes later too.
    let mut later = platform.socket(&token);
    later.say(r#"{"subscribe":[{"channel":"quotes","symbols":["SIM001"]}]}"#);
    let quote = later.until("the quote", |message| message["data"]["bids"][0]["price"] == "99");
    assert_eq!((&quote["channel"], &quote["data"]["symbol"]), (&"quotes".into(), &"SIM001".into()));
    let last = told["sequence"].as_u64().unwrap();
    // Another account's are not for this token.
    let all = platform.token(&["all", "--role", "trader"]);
    let others = order("x", "buy", 1, "98").replace("\"account\":9", "\"account\":8");
    assert_eq!(platform.ask(&all, "POST", "/v1/orders", &others).status, 201);
    platform.ask(&token, "POST", "/v1/orders", &order("b", "buy", 1, "98"));
    platform.ask(&token, "POST", "/v1/orders", &order("c", "buy", 1, "97"));
    platform.kill("gateway");
    platform.ask(&token, "POST", "/v1/orders", &order("d", "buy", 1, "96"));
    let mut socket = platform.socket(&token);
    let stream = said["stream"].as_str().unwrap();
    socket.say(&format!(r#"{{"subscribe":[{{"channel":"orders","from":{last},"stream":"{stream}"}}]}}"#));
    let mut names = Vec::new();
    let mut sequence = last;
    while names.len() < 3 {
        let told = socket
            .until("what was missed", |message| message["channel"] == "orders" || !message["gap"].is_null());
        assert!(told["gap"].is_null(), "{told}");
        assert!(told["sequence"].as_u64().unwrap() > sequence, "{told}");
        sequence = told["sequence"].as_u64().unwrap();
        names.push(told["data"]["client_order_id"].as_str().unwrap().to_owned());
    }
    assert_eq!(names, ["b", "c", "d"]);
    socket.say(r#"{"subscribe":[{"channel":"orders","accounts":[8]}],"id":2}"#);
    let refused = socket.until("a refusal", |message| message["id"] == 2);
    assert!(refused["error"].as_str().unwrap().contains("not for account 8"), "{refused}");
}

#[test]
fn a_client_that_resumes_while_a_gateway_reads_what_was_there_is_told_nothing_twice() {
    let Some(platform) = platform("reread", "") else { return };
    let token = platform.token(&["t", "--role", "trader", "--accounts", "9"]);
    let mut socket = platform.socket(&token);
    socket.say(r#"{"subscribe":[{"channel":"orders"}],"id":1}"#);
    let said = socket.until("the answer", |message| message["id"] == 1);
    let stream = said["stream"].as_str().unwrap();
    enter(&platform, &token, 400);
    platform.ask(&token, "POST", "/v1/orders", &order("last", "buy", 1, "96"));
    let told = socket.until("the last", |message| message["data"]["client_order_id"] == "last");
    let mut sequence = told["sequence"].as_u64().unwrap();
    for round in 0..5 {
        platform.kill("gateway");
        let end = Instant::now() + WATCHDOG;
        // At once: it listens before it has read the reports of its predecessors.
        let mut socket = loop {
            match platform.try_socket(&token, "") {
                Ok(socket) => break socket,
                Err(error) => assert!(Instant::now() < end, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        socket.say(&format!(
            r#"{{"subscribe":[{{"channel":"orders","from":{sequence},"stream":"{stream}"}}]}}"#
        ));
        let name = format!("r{round}");
        platform.ask(&token, "POST", "/v1/orders", &order(&name, "buy", 1, "95"));
        loop {
            let told = socket.until("what comes next", |message| {
                message["channel"] == "orders" || !message["gap"].is_null()
            });
            assert!(told["gap"].is_null(), "{told}");
            let next = told["sequence"].as_u64().unwrap();
            assert!(next > sequence, "{told} behind {sequence}");
            sequence = next;
            if told["data"]["client_order_id"] == *name {
                break;
            }
        }
    }
}

/// A power cut takes reports that the disk does not have and the client has. Their sequences are used again.
#[test]
fn a_client_that_resumes_at_the_recovered_platform_misses_no_report() {
    let count = "[strategies]\ncount = 0\n";
    let recorder = format!("{count}[[recorder]]\npath = \"recordings\"\n");
    let Some(platform) = platform_with("recover", "", &[(count, &recorder)]) else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let mut socket = platform.socket(&token);
    socket.say(r#"{"subscribe":[{"channel":"orders"}],"id":1}"#);
    let said = socket.until("the answer", |message| message["id"] == 1);
    let stream = said["stream"].as_str().unwrap();
    let mut make = |name: &str, side: &str, price: &str| {
        let made = platform.ask(&token, "POST", "/v1/orders", &order(name, side, 1, price));
        assert_eq!(made.status, 201, "{made:?}");
        let told = socket.until(name, |message| message["data"]["client_order_id"] == name);
        told["sequence"].as_u64().unwrap()
    };
    for number in 0..20 {
        make(&format!("o{number}"), "buy", "99");
    }
    platform.until_recorded();
    platform.stop("recorder");
    let last = (0..5).map(|number| make(&format!("lost{number}"), "buy", "98")).max().unwrap();
    platform.cut();
    let recording = platform.path("recordings").join(&platform.name);
    let up = platform.colo(&["up", "--recover", recording.to_str().unwrap(), "--stay"]);
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
    // More reports than were lost, before the client comes again.
    for number in 0..20 {
        let sell = order(&format!("s{number}"), "sell", 1, "99").replace("\"account\":9", "\"account\":8");
        assert_eq!(platform.ask(&token, "POST", "/v1/orders", &sell).status, 201);
    }
    let mut socket = platform.socket(&token);
    socket.say(&format!(
        r#"{{"subscribe":[{{"channel":"orders","from":{last},"stream":"{stream}"}}],"id":2}}"#
    ));
    let said = socket.until("the answer", |message| message["id"] == 2);
    assert_ne!(said["stream"], stream);
    let reset = socket.until("what comes first", |message| {
        message["channel"] == "orders" || !message["gap"].is_null() || !message["reset"].is_null()
    });
    assert_eq!(reset, serde_json::json!({"reset": {"channel": "orders", "stream": said["stream"]}}));
    let (mut filled, mut sequence) = (std::collections::BTreeSet::new(), 0);
    while filled.len() < 20 {
        let what = format!("a fill of an order that is not among {filled:?}");
        let told = socket.until(&what, |message| message["channel"] == "orders" || !message["gap"].is_null());
        assert!(told["gap"].is_null(), "{told}");
        assert!(told["sequence"].as_u64().unwrap() > sequence, "{told} behind {sequence}");
        sequence = told["sequence"].as_u64().unwrap();
        let name = told["data"]["client_order_id"].as_str().unwrap().to_owned();
        assert!(!name.starts_with("lost"), "{told}");
        if name.starts_with('o') && !told["fill"].is_null() {
            assert!(filled.insert(name), "each order trades once: {told}");
        }
    }
}

#[test]
fn the_binary_encoding_is_the_wire_s_own() {
    let Some(platform) = platform("binary", "") else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let mut socket = platform.socket(&token);
    socket.say(r#"{"encoding":"binary","subscribe":[{"channel":"orders"}],"id":1}"#);
    socket.until("the answer", |message| message["id"] == 1);
    let made = platform.ask(&token, "POST", "/v1/orders", &order("a", "buy", 2, "99"));
    let end = Instant::now() + WATCHDOG;
    let payload = loop {
        assert!(Instant::now() < end);
        let (kind, payload) = socket.frame();
        if kind == 2 {
            break payload;
        }
    };
    assert_eq!(payload[..2], [1, 0], "version and channel");
    let number = |from: usize| u64::from_le_bytes(payload[from..from + 8].try_into().unwrap());
    let id = u16::from_le_bytes([payload[2], payload[3]]);
    let execution = wire::Execution::decode(id, &payload[24..]).unwrap();
    assert_eq!(execution.order_id().to_string(), made.body["order_id"].as_str().unwrap());
    assert_eq!(number(8), made.body["sequence"].as_u64().unwrap());
}

#[test]
fn a_client_that_does_not_read_costs_itself_only_and_every_message_is_counted() {
    let Some(platform) = platform("slow", "queue = \"16KiB\"\nwrite_deadline = \"2s\"") else { return };
    let token = platform.token(&["t", "--role", "admin"]);
    let mut slow = platform.socket(&token);
    slow.say(r#"{"subscribe":[{"channel":"orders"},{"channel":"quotes"},{"channel":"trades"}]}"#);
    let mut quick = platform.socket(&token);
    quick.say(r#"{"subscribe":[{"channel":"orders"},{"channel":"quotes"}],"id":1}"#);
    quick.until("the answer", |message| message["id"] == 1);
    // Both sockets' buffers hold megabytes: enough until the slow one blocks is sent only if it must be.
    for number in 0..300 {
        let body =
            order(&format!("q{number}"), "buy", 1, &format!("9{}.{:02}", number % 5 + 1, number % 100));
        assert_eq!(platform.ask(&token, "POST", "/v1/orders", &body).status, 201);
        let name = Value::from(format!("q{number}"));
        quick.until("each order", |message| message["data"]["client_order_id"] == name);
    }
    quick.say(r#"{"stats":true,"id":2}"#);
    let stats = quick.until("the count", |message| message["id"] == 2);
    let count = |name: &str| stats["stats"][name].as_u64().unwrap();
    assert!(count("published") > 300, "{stats}");
    assert_eq!(
        count("published"),
        count("delivered") + count("conflated") + count("dropped") + count("queued"),
        "{stats}"
    );
    drop(slow);
}

/// As many orders of account 9 as this, in batches.
fn enter(platform: &support::Platform, token: &str, count: usize) {
    for batch in (0..count).collect::<Vec<_>>().chunks(100) {
        let orders: Vec<String> =
            batch.iter().map(|number| order(&format!("n{number}"), "buy", 1, "99")).collect();
        let body = format!("{{\"orders\":[{}]}}", orders.join(","));
        let answer = platform.ask(token, "POST", "/v1/orders/batch", &body);
        assert!(answer.status < 300, "{answer:?}");
    }
}

/// What is missed is longer than the queue, and so is what one turn brings: a client that reads gets all of it, and none waits
/// for something else to happen.
#[test]
fn a_client_that_reads_gets_all_orders_however_little_may_wait_for_it() {
    const ORDERS: usize = 800;
    let more =
        "queue = \"8KiB\"\nlimits = { max_working_orders = 10000 }\norder_rate = 100000\nrate = 100000";
    let Some(platform) = platform("burst", more) else { return };
    let token = platform.token(&["t", "--role", "trader", "--accounts", "9"]);
    enter(&platform, &token, ORDERS);
    let mut socket = platform.socket(&token);
    socket.say(r#"{"subscribe":[{"channel":"orders","from":0}],"id":1}"#);
    let mut last = 0;
    let mut hear = |socket: &mut support::Socket, status: &str| {
        for number in 0..ORDERS {
            let what = format!("order {number} as {status}");
            let told = socket.until(&what, |told| told["channel"] == "orders" || !told["gap"].is_null());
            assert!(told["gap"].is_null(), "{told}");
            assert_eq!(told["data"]["status"], status, "{told}");
            let sequence = told["sequence"].as_u64().unwrap();
            assert!(sequence > last, "{told} after {last}");
            last = sequence;
        }
    };
    // That an order works at the first look, or was sent before: its reports have the last word of it.
    hear(&mut socket, "accepted");
    assert_eq!(platform.ask(&token, "DELETE", "/v1/orders?symbol=SIM001", "").status, 202);
    hear(&mut socket, "cancelled");
    socket.say(r#"{"stats":true,"id":2}"#);
    let stats = socket.until("the count", |message| message["id"] == 2)["stats"].clone();
    let orders = 2 * ORDERS as u64;
    assert_eq!((&stats["published"], &stats["delivered"]), (&orders.into(), &orders.into()), "{stats}");
}

#[test]
fn a_client_that_is_let_go_in_the_middle_of_a_message_gets_its_end_and_the_reason() {
    use std::io::Read;
    let more = "queue = \"8KiB\"\nwrite_deadline = \"1s\"\nlimits = { max_working_orders = 10000 }\norder_rate = 100000\nrate = 100000";
    let Some(platform) = platform("last", more) else { return };
    let token = platform.token(&["t", "--role", "trader", "--accounts", "9"]);
    let socket = platform.socket(&token);
    nix::sys::socket::setsockopt(&socket.stream, nix::sys::socket::sockopt::RcvBuf, &65_536).unwrap();
    let mut socket = socket;
    socket.say(r#"{"subscribe":[{"channel":"orders"}],"id":1}"#);
    socket.until("the answer", |message| message["id"] == 1);
    enter(&platform, &token, 2_000);
    // It is let go because it does not read: then it reads.
    let log = || platform.log("gateway").contains("is let go");
    let end = Instant::now() + WATCHDOG;
    while !log() {
        assert!(Instant::now() < end, "it is never let go");
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut bytes = Vec::new();
    socket.stream.read_to_end(&mut bytes).unwrap();
    let mut rest = &bytes[..];
    let mut code = None;
    while let [first, length, ..] = *rest {
        let (head, length) = match length {
            126 => (4, usize::from(u16::from_be_bytes([rest[2], rest[3]]))),
            length => (2, usize::from(length)),
        };
        assert!(
            rest.len() >= head + length,
            "a frame is cut off: {} of {length}, behind {} bytes\n{}",
            rest.len(),
            bytes.len(),
            platform.log("gateway")
        );
        if first == 0x88 {
            code = Some(u16::from_be_bytes([rest[head], rest[head + 1]]));
        }
        rest = &rest[head + length..];
    }
    assert_eq!(code, Some(4001), "{}", platform.log("gateway"));
}

#[test]
fn accounts_are_told_to_who_subscribes_while_nothing_happens() {
    let Some(platform) = platform("quiet", "") else { return };
    let token = platform.token(&["t"]);
    for _ in 0..2 {
        let mut socket = platform.socket(&token);
        socket.say(r#"{"subscribe":[{"channel":"accounts","accounts":[9]}]}"#);
        let told = socket.until("the account", |message| message["channel"] == "accounts");
        assert_eq!(told["data"]["account"], 9, "{told}");
    }
}

#[test]
fn who_is_slow_half_open_or_talks_rubbish_is_let_go() {
    let Some(platform) = platform("rude", "head = \"300ms\"\nidle = \"600ms\"") else { return };
    use std::io::{Read, Write};
    let token = platform.token(&["t"]);
    // Nothing at all, half a head, and half a body: each is let go, and nobody else notices.
    for (begin, answered) in [
        ("", false),
        ("GET /health HT", false),
        ("POST /v1/orders HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{", true),
    ] {
        let mut stream = platform.connect().unwrap();
        stream.write_all(begin.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.is_empty() || answered || text.starts_with("HTTP/1.1 4"), "{begin:?}: {text}");
    }
    let mut seed = 3_u64;
    for _ in 0..300 {
        let mut stream = platform.connect().unwrap();
        let bytes: Vec<u8> = (0..200)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 56) as u8
            })
            .collect();
        let _ = stream.write_all(&bytes);
    }
    let mut socket = platform.socket(&token);
    socket.send(0x83, b"no such kind");
    let (kind, payload) = socket.frame();
    assert_eq!((kind, u16::from_be_bytes([payload[0], payload[1]])), (8, 1002));
    let large = "x".repeat(300 << 10);
    assert_eq!(platform.ask(&token, "PATCH", "/v1/orders/1-1-1", &large).status, 413);
    assert!(platform.try_socket(&token, "origin: http://evil.example\r\n").unwrap_err().contains("403"));
    assert!(platform.try_socket("", "").unwrap_err().contains("401"));
    assert_eq!(platform.ask(&token, "GET", "/health", "").status, 200);
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(platform.pid("gateway"), platform.pid("gateway"), "nobody died");
    assert!(!platform.log("gateway").contains("panicked"));
}

#[test]
fn a_session_s_orders_end_with_its_websocket_and_no_others() {
    let Some(platform) = platform("session", "") else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let (other, viewer) = (platform.token(&["o", "--role", "trader"]), platform.token(&["v"]));
    let mut socket = platform.socket(&token);
    socket.say(r#"{"cancel_on_disconnect":true,"subscribe":[{"channel":"platform"}],"id":"s"}"#);
    let said = socket.until("the session", |message| message["id"] == "s");
    let session = said["session"].as_str().unwrap().to_owned();
    // The same again is the same session.
    socket.say(r#"{"cancel_on_disconnect":true,"id":2}"#);
    let again = socket.until("the session", |message| message["id"] == 2);
    assert_eq!(
        (again["session"].as_str(), &again["subscribed"][0]),
        (Some(session.as_str()), &"platform".into())
    );
    let within =
        |name: &str| order(name, "buy", 1, "95").replacen('{', &format!("{{\"session\":\"{session}\","), 1);
    let post = |token: &str, body: &str| platform.ask(token, "POST", "/v1/orders", body);
    for name in ["a", "b"] {
        assert_eq!(post(&token, &within(name)).status, 201);
    }
    assert_eq!(post(&token, &order("stays", "buy", 1, "95")).status, 201);
    let stolen = post(&other, &within("stolen"));
    assert_eq!((stolen.status, &stolen.body["type"]), (409, &"/docs#session-ended".into()), "{stolen:?}");
    let mut seeing = platform.socket(&viewer);
    seeing.say(r#"{"cancel_on_disconnect":true,"id":1}"#);
    assert!(seeing.until("a refusal", |message| message["id"] == 1)["error"].is_string());
    // However it ends: here without a word.
    drop(socket);
    for name in ["a", "b"] {
        platform.until(&token, &format!("/v1/clients/9/{name}"), |order| order["status"] == "cancelled");
    }
    assert_eq!(platform.ask(&token, "GET", "/v1/clients/9/stays", "").body["working"], true);
    let late = post(&token, &within("late"));
    assert_eq!((late.status, &late.body["type"]), (409, &"/docs#session-ended".into()), "{late:?}");
    assert_eq!(
        post(&token, &order("nonsense", "buy", 1, "95").replacen('{', "{\"session\":\"x\",", 1)).status,
        400
    );
    // By revocation too.
    let mut socket = platform.socket(&other);
    socket.say(r#"{"cancel_on_disconnect":true,"id":1}"#);
    let said = socket.until("the session", |message| message["id"] == 1);
    let session = said["session"].as_str().unwrap();
    let body = order("r", "buy", 1, "95").replacen('{', &format!("{{\"session\":\"{session}\","), 1);
    assert_eq!(post(&other, &body).status, 201);
    assert!(platform.colo(&["token", "revoke", "o"]).status.success());
    platform.until(&token, "/v1/clients/9/r", |order| order["status"] == "cancelled");
}

/// Orders come in bursts until the moment at which the WebSocket of their session breaks off.
#[test]
fn no_order_of_a_session_works_on_however_close_to_its_end_it_was_accepted() {
    let Some(platform) = platform("burst", "limits = { max_working_orders = 0 }") else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let mut accepted = 0;
    for round in 0..8 {
        let mut socket = platform.socket(&token);
        socket.say(r#"{"cancel_on_disconnect":true,"id":1}"#);
        let begun = socket.until("the session", |message| message["id"] == 1);
        let session = begun["session"].as_str().unwrap();
        let send = |sender: u32| -> usize {
            let mut accepted = 0;
            for batch in 0..4 {
                let one = |number: u32| {
                    order(&format!("{round}-{sender}-{batch}-{number}"), "buy", 1, "95").replacen(
                        '{',
                        &format!("{{\"session\":\"{session}\",\"wait\":\"none\","),
                        1,
                    )
                };
                // One request, so that many are in one turn of the core.
                let body = format!(r#"{{"orders":[{}]}}"#, (0..60).map(one).collect::<Vec<_>>().join(","));
                let answer = platform.ask(&token, "POST", "/v1/orders/batch", &body);
                let results = answer.body["results"].as_array().unwrap().iter();
                accepted += results.filter(|one| one["status"] == 202).count();
            }
            accepted
        };
        let send = &send;
        accepted += std::thread::scope(|scope| {
            let senders: Vec<_> = (0..4).map(|sender| scope.spawn(move || send(sender))).collect();
            std::thread::sleep(Duration::from_micros(3_000 + 1_500 * round));
            // A reset instead of an end.
            socket2::SockRef::from(&socket.stream).set_linger(Some(Duration::ZERO)).unwrap();
            drop(socket);
            senders.into_iter().map(|sender| sender.join().unwrap()).sum::<usize>()
        });
    }
    println!("{accepted} orders were accepted");
    assert!(accepted > 0);
    platform.until(&token, "/v1/orders?working=true&limit=1000", |all| {
        all["orders"].as_array().is_some_and(Vec::is_empty)
    });
}
