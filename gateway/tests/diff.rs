//! DIFF: sessions of a client of our own, and of tqsdk as it is.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Platform, Socket, WATCHDOG, order, platform};

/// A lot is ten.
const DIFF: &str =
    "diff = true\nlimits = { max_working_orders = 10000 }\n[[desk.contracts]]\nmultiplier = 10";

/// A client's copy of what it has asked for.
struct Client {
    socket: Socket,
    data: Value,
    peeks: bool,
}

fn merge(into: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *into = patch.clone();
        return;
    };
    if !into.is_object() {
        *into = json!({});
    }
    for (key, value) in patch {
        if value.is_null() {
            into.as_object_mut().unwrap().remove(key);
        } else {
            merge(&mut into[key.as_str()], value);
        }
    }
}

impl Client {
    fn connect(platform: &Platform, bearer: &str) -> Client {
        let end = Instant::now() + WATCHDOG;
        loop {
            match Client::try_connect(platform, bearer) {
                Ok(client) => return client,
                Err(error) => assert!(Instant::now() < end, "no session: {error}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn try_connect(platform: &Platform, bearer: &str) -> Result<Client, String> {
        let mut stream = platform.connect().map_err(|error| error.to_string())?;
        write!(
            stream,
            "GET /diff HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\n\
             sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: Bearer {bearer}\r\n\r\n"
        )
        .map_err(|error| error.to_string())?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).map_err(|error| error.to_string())?;
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        match head.starts_with("HTTP/1.1 101") {
            true => Ok(Client { socket: Socket { stream }, data: json!({}), peeks: false }),
            false => Err(head),
        }
    }

    fn say(&mut self, message: &Value) {
        self.socket.say(&message.to_string());
    }

    fn login(&mut self, account: &str, token: &str) {
        self.say(&json!({"aid": "req_login", "bid": "COLO", "user_name": account, "password": token}));
        self.say(&json!({"aid": "confirm_settlement"}));
        self.until("the account", |data| data["trade"][account]["trade_more_data"] == false);
    }

    /// Peeks and merges until this holds of the copy.
    fn until(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) {
        let end = Instant::now() + WATCHDOG;
        while !is_it(&self.data) {
            if !std::mem::replace(&mut self.peeks, true) {
                self.say(&json!({"aid": "peek_message"}));
            }
            let (kind, payload) = self.socket.frame();
            assert!(kind != 8, "closed while waiting for {what}: {}", String::from_utf8_lossy(&payload));
            assert!(Instant::now() < end, "{what} did not come: {}", self.data);
            if kind != 1 {
                continue;
            }
            let message: Value = serde_json::from_slice(&payload).unwrap();
            assert_eq!(message["aid"], "rtn_data");
            self.peeks = false;
            for patch in message["data"].as_array().unwrap() {
                merge(&mut self.data, patch);
            }
        }
    }

    fn insert(&mut self, account: &str, name: &str, direction: &str, volume: i64, price: f64) {
        self.say(&json!({
            "aid": "insert_order", "user_id": account, "order_id": name, "exchange_id": "SHFE", "instrument_id": "SIM001",
            "direction": direction, "offset": "OPEN", "volume": volume, "price_type": "LIMIT", "limit_price": price,
            "time_condition": "GFD", "volume_condition": "ANY",
        }));
    }
}

fn count(data: &Value, account: &str, status: &str) -> usize {
    let orders = data["trade"][account]["orders"].as_object();
    orders.map_or(0, |orders| {
        let is_meant = |order: &&Value| order["status"] == status && order["exchange_order_id"] != "";
        orders.values().filter(is_meant).count()
    })
}

/// What a login over HTTP gives.
fn access(platform: &Platform, token: &str) -> String {
    let body = format!("client_id=x&client_secret=y&grant_type=password&username=me&password={token}");
    let path = "/diff/auth/realms/shinnytech/protocol/openid-connect/token";
    let answer = platform.ask("", "POST", path, &body);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["access_token"].as_str().unwrap().to_owned()
}

/// Lots held: long and short, as HTTP shows them.
fn held(platform: &Platform, token: &str, account: &str) -> [i64; 2] {
    let answer = platform.ask(token, "GET", &format!("/v1/positions?account={account}"), "");
    let lots = |side: &str| {
        let rows = answer.body["positions"].as_array().unwrap().iter();
        rows.filter(|row| row["side"] == side && row["instrument"] == 1)
            .map(|row| row["quantity"].as_i64().unwrap())
            .sum()
    };
    [lots("long"), lots("short")]
}

/// Names of clients that look like ids of the platform, of orders that came over HTTP before and over DIFF, beside orders without a
/// name that have these ids.
#[test]
fn a_name_that_looks_like_an_id_of_the_platform_stands_for_no_other_order() {
    let Some(platform) = platform("diff-ids", DIFF) else { return };
    let token = platform.token(&["d", "--role", "trader"]);
    let send = |name: &str, quantity: u32| {
        let body = order(name, "buy", quantity, "94").replace(r#""client_order_id":"","#, "");
        let answer = platform.ask(&token, "POST", "/v1/orders", &body);
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.body["order_id"].as_str().unwrap().to_owned()
    };
    let first = send("", 1);
    let (begin, number) = first.rsplit_once('-').unwrap();
    let number: u32 = number.parse().unwrap();
    let next = |more: u32| format!("{begin}-{}", number + more);
    // An order whose name is the id of the order after the next one.
    let named = next(2);
    send(&named, 2);
    assert_eq!(send("", 3), named);
    let mut client = Client::connect(&platform, &token);
    client.login("9", &token);
    let volumes = |data: &Value| -> Vec<(String, i64)> {
        let orders = data["trade"]["9"]["orders"].as_object().into_iter().flatten();
        orders.map(|(key, order)| (key.clone(), order["volume_orign"].as_i64().unwrap())).collect()
    };
    client.until("three orders", |data| volumes(data).len() == 3);
    let mut expected = vec![(first.clone(), 1), (named.clone(), 3), (format!("%{named}"), 2)];
    expected.sort();
    let mut found = volumes(&client.data);
    found.sort();
    assert_eq!(found, expected);
    // No such name over DIFF itself.
    client.insert("9", &next(3), "BUY", 9, 94.0);
    let mark = |data: &Value| data["notify"].to_string().contains("the platform's own ids");
    client.until("the refusal", mark);
    // Each is cancelled as it is called.
    let status = |name: &str| {
        let all = platform.ask(&token, "GET", "/v1/orders?account=9&limit=10", "").body;
        let find = all["orders"].as_array().unwrap().iter().find(|one| one["order_id"] == name);
        find.unwrap()["status"].clone()
    };
    for (called, id, other) in
        [(named.clone(), named.clone(), next(1)), (format!("%{named}"), next(1), next(0))]
    {
        assert_eq!(status(&other), "accepted");
        client.say(&json!({"aid": "cancel_order", "user_id": "9", "order_id": called}));
        client.until("the end", |data| data["trade"]["9"]["orders"][&called]["status"] == "FINISHED");
        assert_eq!((status(&id), status(&other)), ("cancelled".into(), "accepted".into()), "{called}");
    }
}

#[test]
fn a_session_sees_and_trades_and_comes_back_to_the_same_after_a_kill() {
    let Some(platform) = platform("diff", DIFF) else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let bearer = access(&platform, &token);
    let mut client = Client::connect(&platform, &bearer);
    client.until("market data", |data| data["mdhis_more_data"] == false);
    client.say(&json!({"aid": "subscribe_quote", "ins_list": "SHFE.SIM001,SHFE.SIM002"}));
    client.until("the echo", |data| data["ins_list"] == "SHFE.SIM001,SHFE.SIM002");
    client.login("9", &token);
    client.login("8", &token);
    for number in 0..1_000 {
        let price = 90.0 + f64::from(number % 50) / 10.0;
        client.insert("9", &format!("PYSDK_insert_{number:032x}"), "BUY", 1, price);
    }
    client.until("a thousand orders", |data| count(data, "9", "ALIVE") == 1_000);
    client.until("the best bid", |data| data["quotes"]["SHFE.SIM001"]["bid_price1"] == json!(94.9));
    let money = &client.data["trade"]["9"]["accounts"]["CNY"];
    assert!(money["balance"].as_f64().unwrap() > 0.0 && money["frozen_margin"].as_f64().is_some(), "{money}");
    for number in 0..990 {
        let id = format!("PYSDK_insert_{number:032x}");
        client.say(&json!({"aid": "cancel_order", "user_id": "9", "order_id": id}));
    }
    client.until("cancels", |data| count(data, "9", "FINISHED") == 990 && count(data, "9", "ALIVE") == 10);
    // The rest trades: five of them at once, against the other account.
    client.insert("8", "sale", "SELL", 5, 94.5);
    client.until("the position", |data| {
        data["trade"]["9"]["positions"]["SHFE.SIM001"]["volume_long"] == 5
            && data["trade"]["8"]["positions"]["SHFE.SIM001"]["volume_short"] == 5
    });
    client.until("the trades", |data| {
        data["trade"]["9"]["trades"].as_object().is_some_and(|all| all.len() == 5)
    });
    assert_eq!(client.data["trade"]["8"]["orders"]["sale"]["volume_left"], 0);
    // Prices are of one, money is of lots: 94.9 down to 94.5, one each.
    let position = &client.data["trade"]["9"]["positions"]["SHFE.SIM001"];
    assert_eq!((&position["open_price_long"], &position["open_cost_long"]), (&json!(94.7), &json!(4735)));
    let shown = platform.ask(&token, "GET", "/v1/positions?account=9", "");
    assert_eq!(shown.body["positions"][0]["average_price"], "94.7", "{shown:?}");
    let symbols = platform.ask(&token, "GET", "/diff/symbols.json", "");
    assert_eq!(symbols.body["SHFE.SIM001"]["volume_multiple"], 10, "{symbols:?}");
    assert_eq!((held(&platform, &token, "9"), held(&platform, &token, "8")), ([5, 0], [0, 5]));
    client.until("the last price", |data| data["quotes"]["SHFE.SIM001"]["volume"] == 5);
    client.say(&json!({
        "aid": "set_chart", "chart_id": "c", "ins_list": "SHFE.SIM001", "duration": 60_000_000_000_u64, "view_width": 8
    }));
    client.until("the bars", |data| data["charts"]["c"]["ready"] == true);
    let bars = &client.data["klines"]["SHFE.SIM001"]["60000000000"];
    let last = bars["last_id"].to_string();
    assert_eq!(client.data["charts"]["c"]["state"]["aid"], "set_chart");
    let volume: i64 =
        bars["data"].as_object().unwrap().values().map(|bar| bar["volume"].as_i64().unwrap()).sum();
    assert_eq!(volume, 5, "{bars}");
    assert!(bars["data"][&last]["datetime"].as_u64().unwrap().is_multiple_of(60_000_000_000), "{bars}");
    // A trade more is in the bar, and in what is held.
    client.insert("8", "sale-2", "SELL", 1, 94.0);
    client.until("the next bar or more of it", |data| {
        let bars = data["klines"]["SHFE.SIM001"]["60000000000"]["data"].as_object().unwrap().values();
        bars.map(|bar| bar["volume"].as_i64().unwrap()).sum::<i64>() == 6
    });
    client.until("the position", |data| data["trade"]["9"]["positions"]["SHFE.SIM001"]["volume_long"] == 6);
    client.until("how all orders stand", |data| {
        count(data, "9", "FINISHED") == 996
            && count(data, "9", "ALIVE") == 4
            && data["trade"]["9"]["trades"].as_object().is_some_and(|all| all.len() == 6)
    });
    // Killed, the gateway tells a session that comes back the same: it needs no new login over HTTP.
    platform.kill("gateway");
    let mut again = Client::connect(&platform, &bearer);
    again.login("9", &token);
    again.until("all orders", |data| count(data, "9", "FINISHED") == 996 && count(data, "9", "ALIVE") == 4);
    again.until("all trades", |data| {
        data["trade"]["9"]["trades"].as_object().is_some_and(|all| all.len() == 6)
    });
    // The time of an order is read back from its journal, where it stands a moment earlier.
    let plain = |data: &Value, kind: &str| {
        let mut rows = data["trade"]["9"][kind].clone();
        let all = rows.as_object_mut().unwrap().values_mut();
        all.for_each(|row| drop(row.as_object_mut().unwrap().remove("insert_date_time")));
        rows
    };
    for kind in ["orders", "trades"] {
        assert_eq!(plain(&again.data, kind), plain(&client.data, kind), "{kind}");
    }
    again.until("the position", |data| data["trade"]["9"]["positions"]["SHFE.SIM001"]["volume_long"] == 6);
    // The same order again is that order, and a new one comes after it.
    let first = format!("PYSDK_insert_{:032x}", 0);
    again.insert("9", &first, "BUY", 1, 90.0);
    again.insert("9", "after", "BUY", 1, 90.0);
    again.until("the new order", |data| data["trade"]["9"]["orders"]["after"]["status"] == "ALIVE");
    assert_eq!(again.data["trade"]["9"]["orders"][&first]["status"], "FINISHED");
    assert_eq!(count(&again.data, "9", "ALIVE"), 5);
    let audit = platform.colo(&["audit", &platform.name]);
    assert!(audit.status.success(), "{}", String::from_utf8_lossy(&audit.stdout));
    assert!(!platform.log("gateway").contains("panicked"));
}

#[test]
fn who_may_not_is_told_so_and_nothing_is_sent() {
    let Some(platform) = platform("diff-may", DIFF) else { return };
    let trader = platform.token(&["t", "--role", "trader", "--accounts", "9"]);
    let viewer = platform.token(&["v"]);
    let told = |client: &mut Client, word: &str| {
        client.until(word, |data| {
            let notes = data["notify"].as_object();
            notes.is_some_and(|all| all.values().any(|note| note["content"].as_str().unwrap().contains(word)))
        });
    };
    assert!(Client::try_connect(&platform, "").is_err_and(|head| head.contains("401")));
    assert!(Client::try_connect(&platform, "a.b.c").is_err_and(|head| head.contains("401")));
    let bad = platform.ask(
        "",
        "POST",
        "/diff/auth/realms/shinnytech/protocol/openid-connect/token",
        "grant_type=password&password=x",
    );
    assert_eq!(bad.status, 401, "{bad:?}");
    let mut client = Client::connect(&platform, &access(&platform, &trader));
    client.say(&json!({"aid": "req_login", "user_name": "8", "password": trader}));
    told(&mut client, "not for account 8");
    client.insert("9", "a", "BUY", 1, 90.0);
    told(&mut client, "req_login goes first");
    client.say(&json!({"aid": "req_login", "user_name": "9", "password": "wrong"}));
    told(&mut client, "show a token that is good");
    client.login("9", &viewer);
    client.insert("9", "b", "BUY", 1, 90.0);
    client.until("the refusal", |data| data["trade"]["9"]["orders"]["b"]["status"] == "FINISHED");
    assert_eq!(client.data["trade"]["9"]["orders"]["b"]["exchange_order_id"], "");
    client.login("9", &trader);
    client.insert("9", "c", "BUY", 1, 99.123);
    client.until("td's refusal", |data| {
        data["trade"]["9"]["orders"]["c"]["last_msg"].as_str().is_some_and(|text| text.contains("off-tick"))
    });
    client.say(&json!({"aid": "subscribe_quote", "ins_list": "SHFE.NEVER"}));
    told(&mut client, "SHFE.NEVER");
    client.say(&json!({"aid": "set_chart", "chart_id": "t", "ins_list": "SHFE.SIM001", "duration": 0, "view_width": 9}));
    told(&mut client, "ticks are not kept");
    client.socket.say("{");
    told(&mut client, "this is no message");
    // Another's name for an order is not taken over.
    assert_eq!(platform.ask(&trader, "POST", "/v1/orders", &order("d", "buy", 2, "90")).status, 201);
    client.insert("9", "d", "SELL", 7, 95.0);
    told(&mut client, "differs");
    client.until("it stays", |data| data["trade"]["9"]["orders"]["d"]["volume_orign"] == 2);
    // Revoked, it is closed.
    assert!(platform.colo(&["token", "revoke", "t"]).status.success());
    client.say(&json!({"aid": "peek_message"}));
    let end = Instant::now() + WATCHDOG;
    let code = loop {
        assert!(Instant::now() < end);
        let (kind, payload) = client.socket.frame();
        if kind == 8 {
            break u16::from_be_bytes([payload[0], payload[1]]);
        }
    };
    assert_eq!(code, 4003);
    let log = platform.log("gateway");
    assert!(!log.contains(trader.rsplit('_').next().unwrap()) && !log.contains("panicked"));
    let off = platform_without();
    assert!(off.is_none_or(|platform| platform.ask("", "GET", "/diff", "").status == 404));
}

fn platform_without() -> Option<Platform> {
    platform("diff-off", "")
}

#[test]
fn an_unmodified_tqsdk_sees_trades_and_survives_a_kill_of_the_gateway() {
    let target = Path::new(env!("CARGO_BIN_EXE_colo-gateway")).ancestors().nth(2).unwrap();
    let python = target.join("tq/bin/python");
    if !python.exists() {
        println!(
            "skipped: there is no {}; `python3 -m venv` and `pip install tqsdk` make it",
            python.display()
        );
        return;
    }
    let Some(platform) = platform("tqsdk", DIFF) else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let at = format!("127.0.0.1:{}", platform.port);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tqsdk/session.py");
    let mut child = Command::new(python)
        .arg(script)
        .env("TQ_AUTH_URL", format!("http://{at}/diff"))
        .env("TQ_INS_URL", format!("http://{at}/diff/symbols.json"))
        .env("TQ_MD_URL", format!("ws://{at}/diff"))
        .env("TQ_TD_URL", format!("ws://{at}/diff"))
        .env("COLO_URL", format!("http://{at}"))
        .env("COLO_TOKEN", &token)
        .env("HOME", platform.path("home"))
        // What tqsdk would ask other hosts comes to nothing at once.
        .env("HTTPS_PROXY", "http://127.0.0.1:9")
        .env("NO_PROXY", "127.0.0.1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = child.stderr.take().unwrap();
    let errors = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = errors.read_to_string(&mut text);
        text
    });
    // Its own waits end it: it waits up to forty seconds before it connects again.
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    let watchdog = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(300));
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
    });
    let mut result = None;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        println!("tqsdk: {line}");
        if line == "KILL" {
            platform.kill("gateway");
            writeln!(child.stdin.as_mut().unwrap(), "killed").unwrap();
        } else if let Some(text) = line.strip_prefix("RESULT ") {
            result = Some(serde_json::from_str::<Value>(text).unwrap());
        }
    }
    let status = child.wait().unwrap();
    drop(watchdog);
    let errors = errors.join().unwrap();
    assert!(status.success(), "{errors}\n{}", platform.log("gateway"));
    let result = result.unwrap();
    assert_eq!(result["orders"], 1_002, "{result}");
    let [long, short] = held(&platform, &token, "9");
    assert_eq!((&result["long"], &result["short"]), (&json!(long), &json!(short)), "{result}");
    assert_eq!((long, short), (7, 0));
}

#[test]
fn a_session_that_asks_for_much_and_never_peeks_is_let_go_and_the_others_are_served() {
    let Some(platform) = platform("diff-greedy", DIFF) else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let mut good = Client::connect(&platform, &access(&platform, &token));
    good.login("9", &token);
    let long = "x".repeat(400 << 10);
    for _ in 0..3 {
        let mut greedy = Client::connect(&platform, &access(&platform, &token));
        greedy.login("9", &token);
        // Each is refused, and the refusal repeats the order's name.
        let refused = json!({"aid": "insert_order", "user_id": "9", "order_id": long, "exchange_id": "SHFE",
            "instrument_id": "SIM001", "direction": "BUY", "offset": "OPEN", "volume": 1, "price_type": "LIMIT", "limit_price": 95});
        let text = refused.to_string();
        let stream = greedy.socket.stream.try_clone().unwrap();
        let mut writer = Socket { stream };
        let writing = std::thread::spawn(move || {
            for _ in 0..20 {
                let mut bytes = vec![0x81, 0x80 | 127];
                bytes.extend((text.len() as u64).to_be_bytes());
                bytes.extend([0; 4]);
                bytes.extend(text.as_bytes());
                // It is closed in the middle.
                if writer.stream.write_all(&bytes).is_err() {
                    return;
                }
            }
        });
        let mut rest = Vec::new();
        let _ = greedy.socket.stream.read_to_end(&mut rest);
        writing.join().unwrap();
        assert!(rest.len() < 4 << 20, "{} bytes", rest.len());
    }
    good.insert("9", "good", "BUY", 1, 95.0);
    good.until("the order", |data| data["trade"]["9"]["orders"]["good"]["status"] == "ALIVE");
    let admin = platform.token(&["m", "--role", "admin"]);
    let metrics = platform.ask(&admin, "GET", "/metrics", "").body;
    let metrics = metrics.as_str().unwrap();
    for name in [
        "colo_gateway_diff_sessions",
        "colo_gateway_diff_kept_bytes",
        "colo_gateway_diff_answers_limit_bytes",
    ] {
        assert!(metrics.contains(name), "{name}");
    }
    assert!(!platform.log("gateway").contains("panicked"));
}
