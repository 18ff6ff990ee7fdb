//! What goes wrong outside and inside: clients that never read or never finish, garbage, no descriptors left, kills under load.

mod support;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use journal::Journal;
use support::{Platform, WATCHDOG, order, platform, platform_with};
use wire::{ClientOrder, Execution, Message, OrderId, OrderStatus};

/// The gateway's own memory.
fn memory(platform: &Platform) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/status", platform.pid("gateway"))).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() << 10
}

/// Orders of account 9 that trade with nobody, of one name each.
fn batch(name: &str, count: usize) -> String {
    let one = |number: usize| {
        order(&format!("{name}-{number}"), "buy", 1, &format!("9{}.{:02}", number % 5, number % 100))
            .replace("\"side\"", "\"time_in_force\":\"ioc\",\"side\"")
    };
    format!(r#"{{"orders":[{}]}}"#, (0..count).map(one).collect::<Vec<_>>().join(","))
}

fn seeded(mut seed: u64) -> impl FnMut() -> u64 {
    move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 33
    }
}

#[test]
fn a_hundred_clients_that_never_read_cost_bounded_memory_and_nobody_else_anything() {
    let Some(platform) = platform("deaf", "queue = \"64KiB\"\nwrite_deadline = \"1h\"") else { return };
    let token = platform.token(&["t", "--role", "admin"]);
    let mut deaf = Vec::new();
    for _ in 0..100 {
        let mut socket = platform.socket(&token);
        socket.say(r#"{"subscribe":[{"channel":"orders"},{"channel":"quotes"},{"channel":"trades"}]}"#);
        deaf.push(socket);
    }
    let mut quick = platform.socket(&token);
    quick.say(r#"{"subscribe":[{"channel":"orders"}],"id":1}"#);
    quick.until("the answer", |message| message["id"] == 1);
    let before = memory(&platform);
    let mut sent = 0;
    // Each hears megabytes: more than the system and the queue hold for one that does not read.
    for round in 0..80 {
        let answer = platform.ask(&token, "POST", "/v1/orders/batch", &batch(&format!("b{round}"), 100));
        assert_eq!(answer.status, 200, "{answer:?}");
        sent += 100;
        let last = format!("b{round}-99");
        quick.until("the round's last order", |message| {
            message["data"]["client_order_id"] == last.as_str() && message["data"]["working"] == false
        });
    }
    let grown = memory(&platform).saturating_sub(before);
    // Their queues, the gateway's own memory of as many orders and reports, and what an allocator keeps.
    let most = 100 * (64 << 10) + sent * 8_000 + (16 << 20);
    assert!(grown < most, "{grown} bytes more, {most} at most");
    // They were let go, or have their queues full: what they read to the end is no more than is allowed.
    let closed = deaf.iter_mut().map(|socket| {
        let _ = socket.stream.set_read_timeout(Some(Duration::from_secs(5)));
        let mut all = Vec::new();
        socket.stream.read_to_end(&mut all).is_ok() || !all.is_empty()
    });
    assert_eq!(closed.filter(|is_closed| *is_closed).count(), 100);
    assert_eq!(platform.ask(&token, "GET", "/health", "").status, 200);
}

#[test]
fn slow_heads_and_vanished_websockets_give_their_places_back() {
    let more = "head = \"400ms\"\nidle = \"800ms\"\nping = \"200ms\"\nconnections = 200";
    let Some(platform) = platform("loris", more) else { return };
    let token = platform.token(&["t"]);
    // As many as there are places, each of which sends a byte now and then and never ends its head.
    let mut slow: Vec<TcpStream> = (0..150).map(|_| platform.connect().unwrap()).collect();
    let mut vanished: Vec<_> = (0..30).map(|_| platform.socket(&token)).collect();
    let begin = Instant::now();
    let text = b"GET /health HTTP/1.1\r\nx-slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    for byte in text.iter().take(20) {
        for stream in &mut slow {
            let _ = stream.write_all(&[*byte]);
        }
        assert_eq!(platform.ask(&token, "GET", "/health", "").status, 200, "others are served");
        std::thread::sleep(Duration::from_millis(50));
        assert!(begin.elapsed() < WATCHDOG);
    }
    for stream in &mut slow {
        let mut all = Vec::new();
        // A reset is an end too.
        let _ = stream.read_to_end(&mut all);
        assert!(all.is_empty() || all.starts_with(b"HTTP/1.1 4"));
    }
    // They answer no ping, as a host that has vanished does not.
    for socket in &mut vanished {
        let mut all = Vec::new();
        let _ = socket.stream.read_to_end(&mut all);
    }
    platform.until(&token, "/metrics", |text| {
        let open =
            text.as_str().unwrap().lines().find_map(|line| line.strip_prefix("colo_gateway_connections "));
        open.and_then(|open| open.parse::<u64>().ok()).is_some_and(|open| open <= 3)
    });
}

/// How many of each.
fn garbage() -> usize {
    std::env::var("COLO_GARBAGE").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000)
}

/// A request that was once a good one.
fn bad_request(random: &mut impl FnMut() -> u64, token: &str) -> Vec<u8> {
    let bodies = [
        r#"{"client_order_id":"g","account":9,"symbol":"SIM001","side":"buy","quantity":1,"price":"99"}"#,
        r#"{"orders":[{"account":9,"symbol":"SIM001","side":"sell","quantity":1,"price":101}]}"#,
        r#"{"price":"1e400","quantity":-1}"#,
        r#"{"account":4294967295,"why":""}"#,
        "[[[[[[[[[[[[[[[[[[[[[[[[",
    ];
    let paths = [
        "/v1/orders",
        "/v1/orders/batch",
        "/v1/orders/1-1-1",
        "/v1/kill",
        "/v1/clients/9/g",
        "/v1/bars/SIM001?span=1",
    ];
    let methods = ["POST", "PATCH", "DELETE", "GET", "PUT"];
    let body = bodies[random() as usize % bodies.len()];
    let mut body = body.as_bytes().to_vec();
    for _ in 0..random() % 4 {
        let place = random() as usize % body.len();
        body[place] = random() as u8;
    }
    let method = methods[random() as usize % methods.len()];
    let path = paths[random() as usize % paths.len()];
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut bytes = head.into_bytes();
    // Most heads are left whole, so that bodies are read too.
    if random().is_multiple_of(16) {
        let place = random() as usize % bytes.len();
        bytes[place] = random() as u8;
    }
    bytes.extend_from_slice(&body);
    bytes
}

#[test]
fn garbage_over_http_is_refused_and_harms_nobody() {
    let Some(platform) = platform("garbage", "head = \"2s\"") else { return };
    let token = platform.token(&["t", "--role", "admin"]);
    let (seed, count) = (20, garbage());
    let (pid, begin) = (platform.pid("gateway"), Instant::now());
    let threads: Vec<_> = (0..4_u64)
        .map(|thread| {
            let (port, token) = (platform.port, token.clone());
            std::thread::spawn(move || {
                let mut random = seeded(seed + thread);
                let mut chunk = [0; 64 << 10];
                let (mut sent, mut answered) = (0, 0_usize);
                while sent < count / 4 {
                    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
                    stream.set_read_timeout(Some(WATCHDOG)).unwrap();
                    // Several in one go, until one of them ends the connection.
                    for _ in 0..50 {
                        let several: Vec<u8> =
                            (0..8).flat_map(|_| bad_request(&mut random, &token)).collect();
                        sent += 8;
                        if stream.write_all(&several).is_err() {
                            break;
                        }
                        match stream.read(&mut chunk) {
                            Ok(0) | Err(_) => break,
                            Ok(read) => {
                                let text = String::from_utf8_lossy(&chunk[..read]);
                                answered += text.matches("HTTP/1.1 ").count();
                                assert!(!text.contains("HTTP/1.1 500"), "seed {seed}: {text}");
                            }
                        }
                    }
                }
                answered
            })
        })
        .collect();
    let answered: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    println!("{count} requests, {answered} answers seen, {:?}", begin.elapsed());
    assert!(answered > count / 20, "{answered}");
    assert_eq!(platform.ask(&token, "POST", "/v1/orders", &order("good", "buy", 1, "95")).status, 201);
    assert_eq!(platform.pid("gateway"), pid, "nobody died");
    assert!(!platform.log("gateway").contains("panicked"));
}

/// Reads until this pong; false: the connection was closed.
fn pong(stream: &mut TcpStream, turn: u8) -> bool {
    let (mut kept, mut chunk) = (Vec::new(), [0; 16 << 10]);
    loop {
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return false,
            Ok(count) => kept.extend_from_slice(&chunk[..count]),
        }
        if kept.windows(3).any(|three| three == [0x8a, 1, turn]) {
            return true;
        }
    }
}

#[test]
fn garbage_over_websockets_closes_its_own_connection_only() {
    let Some(platform) = platform("frames", "") else { return };
    let token = platform.token(&["t", "--role", "admin"]);
    let mut good = platform.socket(&token);
    let (pid, count, begin) = (platform.pid("gateway"), garbage(), Instant::now());
    let mut random = seeded(21);
    let (mut sent, mut opened) = (0, 0);
    let words: [&[u8]; 4] = [
        br#"{"subscribe":[{"channel":"orders","from":18446744073709551615}]}"#,
        br#"{"subscribe":[{"channel":"quotes","symbols":["SIM001"]}],"id":[[[[]]]]}"#,
        br#"{"encoding":"binary","stats":true,"unsubscribe":[{"channel":"trades"}]}"#,
        br#"{"cancel_on_disconnect":true}"#,
    ];
    while sent < count {
        let mut socket = platform.socket(&token);
        opened += 1;
        for turn in 0..100_u8 {
            let mut bytes = Vec::new();
            for _ in 0..64 {
                let mut payload = words[random() as usize % words.len()].to_vec();
                if random().is_multiple_of(2) {
                    let place = random() as usize % payload.len();
                    // What is no UTF-8 ends the connection: seldom.
                    payload[place] = random() as u8 & if random().is_multiple_of(512) { 0xff } else { 0x7f };
                }
                // Mostly whole texts; now and then another kind, a reserved bit, no mask.
                let first = if random().is_multiple_of(256) { random() as u8 } else { 0x81 };
                let mask = if random().is_multiple_of(2_048) { 0 } else { 0x80 };
                bytes.extend([first, mask | payload.len() as u8]);
                if mask != 0 {
                    bytes.extend([0; 4]);
                }
                bytes.extend(payload);
            }
            sent += 64;
            // Its pong says that all of it was read.
            bytes.extend([0x89, 0x81, 0, 0, 0, 0, turn]);
            if socket.stream.write_all(&bytes).is_err() || !pong(&mut socket.stream, turn) {
                break;
            }
        }
        assert!(begin.elapsed() < WATCHDOG * 20);
    }
    println!("{sent} frames over {opened} connections, {:?}", begin.elapsed());
    good.say(r#"{"id":1}"#);
    good.until("an answer", |message| message["id"] == 1);
    assert_eq!(platform.pid("gateway"), pid, "nobody died");
    assert!(!platform.log("gateway").contains("panicked"));
}

#[test]
fn without_descriptors_nobody_new_comes_in_and_who_is_there_is_served() {
    let Some(platform) = platform("nofile", "") else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let pid = platform.pid("gateway");
    let mut socket = platform.socket(&token);
    socket.say(r#"{"subscribe":[{"channel":"orders"}],"id":1}"#);
    socket.until("the answer", |message| message["id"] == 1);
    let mut inside = platform.connect().unwrap();
    let ask = |stream: &mut TcpStream, name: &str| {
        let body = order(name, "buy", 1, "95");
        write!(
            stream,
            "POST /v1/orders HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut chunk = [0; 8_192];
        let count = stream.read(&mut chunk).unwrap();
        String::from_utf8_lossy(&chunk[..count]).into_owned()
    };
    assert!(ask(&mut inside, "before").starts_with("HTTP/1.1 201"));
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    let limit = format!("--nofile={}:{}", open + 10, open + 10);
    let limited = std::process::Command::new("prlimit").args(["--pid", &pid.to_string(), &limit]).output();
    if !limited.is_ok_and(|limited| limited.status.success()) {
        println!("skipped: there is no prlimit (Debian: util-linux), or it may not");
        return;
    }
    // More than there is room for: they wait in the system.
    let waiting: Vec<TcpStream> = (0..60).map(|_| platform.connect().unwrap()).collect();
    let end = Instant::now() + WATCHDOG;
    while !platform.log("gateway").contains("cannot be accepted") {
        assert!(Instant::now() < end, "{}", platform.log("gateway"));
        std::thread::sleep(Duration::from_millis(20));
    }
    for number in 0..20 {
        let name = format!("within-{number}");
        assert!(ask(&mut inside, &name).starts_with("HTTP/1.1 201"));
        socket.until("its report", |message| message["data"]["client_order_id"] == name.as_str());
    }
    drop(waiting);
    assert_eq!(platform.ask(&token, "GET", "/health", "").status, 200, "it recovers");
    assert_eq!(platform.pid("gateway"), pid, "nobody died");
    let lines = platform.log("gateway").matches("cannot be accepted").count();
    assert!(lines < 500, "{lines} lines about it");
}

/// Orders of threads that ask until they are answered, while these nodes are killed.
fn kills(test: &str, victims: &[&str]) {
    let Some(platform) = platform(test, "answer = \"1s\"\nlimits = { max_working_orders = 0 }") else {
        return;
    };
    let token = platform.token(&["t", "--role", "trader"]);
    const THREADS: usize = 4;
    const EACH: usize = 1_000;
    let count_of = |seed: usize| {
        let body = move |number: usize| order(&format!("k{seed}-{number}"), "buy", 1, "95");
        let (platform, token) = (&platform, &token);
        move || {
            let mut retried = 0;
            for number in 0..EACH {
                let begin = Instant::now();
                loop {
                    assert!(begin.elapsed() < WATCHDOG, "k{seed}-{number}: {}", platform.log("gateway"));
                    let answer = platform.try_ask(token, "POST", "/v1/orders", &body(number));
                    match answer.map(|answer| (answer.status, answer)) {
                        Ok((200 | 201, _)) => break,
                        // Nobody knows yet, or nobody is there: the same again.
                        Ok((503 | 504 | 202, _)) | Err(_) => retried += 1,
                        Ok((_, answer)) => panic!("{answer:?}"),
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            retried
        }
    };
    let retried: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|seed| scope.spawn(count_of(seed))).collect();
        for round in 0..6 {
            std::thread::sleep(Duration::from_millis(250));
            platform.kill(victims[round % victims.len()]);
        }
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    // What was sent, and what matching has taken: each order once.
    let mut names: HashMap<OrderId, String> = HashMap::new();
    read(&platform, "orders.gateway", |id, payload| {
        if id == ClientOrder::ID
            && let Ok(client) = ClientOrder::decode(payload)
        {
            names.insert(client.order_id, client.client_id.as_str().to_owned());
        }
    });
    let mut taken: HashMap<String, usize> = HashMap::new();
    read(&platform, "matching.executions", |id, payload| {
        if let Ok(Execution::Update(update)) = Execution::decode(id, payload)
            && update.status == OrderStatus::Accepted
            && let Some(name) = names.get(&update.order_id)
        {
            *taken.entry(name.clone()).or_default() += 1;
        }
    });
    println!("{} orders, {retried} retries, kills of {victims:?}", taken.len());
    assert_eq!(taken.len(), THREADS * EACH, "none is lost");
    assert!(taken.values().all(|times| *times == 1), "none is there twice: {taken:?}");
    assert!(!platform.log("gateway").contains("panicked"));
}

fn read(platform: &Platform, name: &str, mut take: impl FnMut(u16, &[u8])) {
    let journal = Journal::open_read_only(platform.instance().find_journal(name)).unwrap();
    let mut reader = journal.loose_from_start().unwrap();
    while let Some(frame) = reader.read().unwrap() {
        take(frame.message_id, frame.payload);
    }
}

#[test]
fn a_gateway_killed_under_load_loses_and_doubles_no_order() {
    kills("killed", &["gateway"]);
}

#[test]
fn td_and_matching_killed_under_load_lose_and_double_no_order() {
    kills("killed-td", &["td", "matching", "gateway"]);
}

/// A second gateway must not take half of the first one's clients.
#[test]
fn a_port_that_another_gateway_has_is_refused() {
    for threads in ["threads = 1", "threads = 2"] {
        let Some(platform) = platform("taken", threads) else { return };
        let name = format!("{}-b", platform.name);
        let text = std::fs::read_to_string(platform.path("g.toml"))
            .unwrap()
            .replace("restart_max = 1000", "restart_max = 0");
        let other = text.replace(&platform.name, &name).replace("unix = \"gateway.sock\"\n", "");
        std::fs::write(platform.path("other.toml"), other).unwrap();
        let up = platform.colo(&["up", "other.toml", "--stay"]);
        let said = String::from_utf8_lossy(&up.stderr).into_owned();
        platform.colo(&["down", &name]);
        assert!(!up.status.success() && said.contains("in use"), "{threads}: {said}");
    }
}

#[test]
fn a_gateway_with_a_damaged_file_of_tokens_or_sessions_does_not_start() {
    let Some(platform) = platform("damaged", "") else { return };
    let text = std::fs::read_to_string(platform.path("g.toml"))
        .unwrap()
        .replace("restart_max = 1000", "restart_max = 0");
    platform.colo(&["down", &platform.name]);
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let fix = format!("fix = {{ listen = \"127.0.0.1:{port}\", sessions = \"fix.json\" }}\ncancel_on_stop");
    std::fs::write(platform.path("fix.json"), "{\"sessions\":[{\"client\":\"A\"}]}").unwrap();
    std::fs::write(platform.path("bad.json"), "{").unwrap();
    for (from, to, what) in [
        ("accounts = [8, 9]", "accounts = [8, 9]\ntokens = \"bad.json\"".to_owned(), "bad.json"),
        ("accounts = [8, 9]", format!("accounts = [8, 9]\n{fix} = true"), "fix.json"),
    ] {
        std::fs::write(platform.path("g.toml"), text.replace(from, &to)).unwrap();
        let up = platform.colo(&["up", "g.toml", "--stay"]);
        let said = String::from_utf8_lossy(&up.stderr).into_owned() + &platform.log("gateway");
        assert!(!up.status.success() && said.contains(what), "{said}");
        platform.colo(&["down", &platform.name]);
    }
}

/// More reports than their ring holds, and a gateway that was killed: it asks the ledger which orders work.
#[test]
fn after_a_kill_ended_orders_whose_reports_are_overwritten_do_not_come_back_as_working() {
    let small = [("[strategies]", "[journal.reports]\ncapacity = \"64KiB\"\n[strategies]")];
    let Some(platform) = platform_with("wrapped", "limits = { max_working_orders = 0 }", &small) else {
        return;
    };
    let token = platform.token(&["t", "--role", "trader"]);
    let works = platform.ask(&token, "POST", "/v1/orders", &order("works", "buy", 2, "95"));
    assert_eq!(works.status, 201, "{works:?}");
    for round in 0..12 {
        let answer = platform.ask(&token, "POST", "/v1/orders/batch", &batch(&format!("w{round}"), 100));
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    platform.kill("gateway");
    let last = "/v1/orders?working=true&limit=1000";
    let left = platform.until(&token, last, |all| {
        all["orders"].as_array().is_some_and(|orders| orders.len() == 1 && orders[0]["status"] == "accepted")
    });
    assert_eq!(left["orders"][0]["client_order_id"], "works", "{left}");
    // An order without its last report is unknown, neither working nor failed; the latest are known.
    let first = platform.ask(&token, "GET", "/v1/clients/9/w0-0", "");
    assert_eq!(
        (&first.body["status"], &first.body["working"]),
        (&"unknown".into(), &false.into()),
        "{first:?}"
    );
    let latest = platform.ask(&token, "GET", "/v1/clients/9/w11-99", "");
    assert_eq!(latest.body["status"], "cancelled", "{latest:?}");
    // The ledger answers each time.
    platform.kill("gateway");
    platform.until(&token, last, |all| all["orders"].as_array().is_some_and(|orders| orders.len() == 1));
    assert_eq!(platform.ask(&token, "DELETE", "/v1/clients/9/works", "").status, 200);
}
