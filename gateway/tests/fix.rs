//! FIX: sessions of a client of our own, and of QuickFIX/J.

mod support;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use support::{Platform, WATCHDOG, platform};

/// A connection, whatever it goes through.
trait Both: Read + Write {}
impl<T: Read + Write> Both for T {}

/// A client's end: numbers as it has them, which outlive a connection.
struct Client {
    port: u16,
    begin: &'static str,
    token: String,
    stream: Option<Box<dyn Both>>,
    tls: Option<std::sync::Arc<rustls::ClientConfig>>,
    buffer: Vec<u8>,
    next_out: u64,
    next_in: u64,
}

#[derive(Clone, Debug)]
struct Message(Vec<(u32, String)>);

impl Message {
    fn get(&self, tag: u32) -> &str {
        self.0.iter().find(|(known, _)| *known == tag).map_or("", |(_, value)| value)
    }

    /// These tags have these values.
    fn is(&self, values: &[(u32, &str)]) -> bool {
        values.iter().all(|(tag, value)| self.get(*tag) == *value)
    }
}

fn now() -> String {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let date =
        Command::new("date").args(["-u", "-d", &format!("@{time}"), "+%Y%m%d-%H:%M:%S"]).output().unwrap();
    String::from_utf8(date.stdout).unwrap().trim().to_owned()
}

fn bytes(begin: &str, body: &str) -> Vec<u8> {
    let mut text = format!("8={begin}\x019={}\x01{body}", body.len());
    let sum = text.bytes().fold(0_u8, |sum, byte| sum.wrapping_add(byte));
    text.push_str(&format!("10={sum:03}\x01"));
    text.into_bytes()
}

impl Client {
    fn new(port: u16, token: &str) -> Client {
        Client {
            port,
            begin: "FIX.4.4",
            token: token.to_owned(),
            stream: None,
            tls: None,
            buffer: Vec::new(),
            next_out: 1,
            next_in: 1,
        }
    }

    fn connect(&mut self) {
        let end = Instant::now() + WATCHDOG;
        self.buffer.clear();
        loop {
            match TcpStream::connect(("127.0.0.1", self.port)) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(WATCHDOG)).unwrap();
                    self.stream = Some(match &self.tls {
                        None => Box::new(stream),
                        Some(config) => {
                            let name = "localhost".try_into().unwrap();
                            let made =
                                rustls::ClientConnection::new(std::sync::Arc::clone(config), name).unwrap();
                            Box::new(rustls::StreamOwned::new(made, stream))
                        }
                    });
                    return;
                }
                Err(error) => assert!(Instant::now() < end, "no connection: {error}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn write(&mut self, body: &str) {
        let all = bytes(self.begin, &body.replace('|', "\x01"));
        self.stream.as_mut().unwrap().write_all(&all).unwrap();
    }

    /// A message with any number.
    fn send_as(&mut self, sequence: u64, kind: &str, more: &str) {
        let header = format!("35={kind}|49=DESK|56=COLO|34={sequence}|52={}|", now());
        self.write(&format!("{header}{more}"));
    }

    fn send(&mut self, kind: &str, more: &str) {
        let sequence = self.next_out;
        self.next_out += 1;
        self.send_as(sequence, kind, more);
    }

    /// Any message; `None`: the connection is closed.
    fn read(&mut self) -> Option<Message> {
        loop {
            if let Some(end) = self.buffer.windows(4).position(|bytes| bytes == b"\x0110=")
                && self.buffer.len() >= end + 8
            {
                let all: Vec<u8> = self.buffer.drain(..end + 8).collect();
                let sum = all[..=end].iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
                let text = String::from_utf8(all).unwrap();
                assert!(text.ends_with(&format!("10={sum:03}\x01")), "{text}");
                let fields = text.split('\x01').filter(|field| !field.is_empty());
                let pairs = fields.map(|field| field.split_once('=').unwrap());
                return Some(Message(
                    pairs.map(|(tag, value)| (tag.parse().unwrap(), value.to_owned())).collect(),
                ));
            }
            let mut bytes = [0; 4_096];
            match self.stream.as_mut().unwrap().read(&mut bytes) {
                Ok(0) => return None,
                Ok(count) => self.buffer.extend_from_slice(&bytes[..count]),
                Err(error)
                    if matches!(
                        error.kind(),
                        std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::UnexpectedEof
                    ) =>
                {
                    return None;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// The next message that is no heartbeat; numbers go up by one.
    fn next(&mut self) -> Option<Message> {
        let message = self.read()?;
        if message.get(43) != "Y" {
            assert_eq!(message.get(34), self.next_in.to_string(), "{message:?}");
            self.next_in += 1;
        }
        match message.get(35) {
            "1" => {
                let id = message.get(112).to_owned();
                self.send("0", &format!("112={id}|"));
                self.next()
            }
            "0" if message.get(112).is_empty() => self.next(),
            _ => Some(message),
        }
    }

    fn expect(&mut self, values: &[(u32, &str)]) -> Message {
        let message = self.next().unwrap_or_else(|| panic!("closed while waiting for {values:?}"));
        assert!(message.is(values), "{values:?}: {message:?}");
        message
    }

    fn logon(&mut self, more: &str) -> Message {
        self.connect();
        let token = self.token.clone();
        self.send("A", &format!("98=0|108=30|554={token}|{more}"));
        self.expect(&[(35, "A")])
    }

    fn order(&mut self, id: &str, side: u8, quantity: u32, price: &str) {
        self.send(
            "D",
            &format!("11={id}|1=9|55=SIM001|54={side}|38={quantity}|40=2|44={price}|59=0|60={}|", now()),
        );
    }
}

/// A platform that speaks FIX, and a session of a token.
fn started(test: &str) -> Option<(Platform, u16, String)> {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let more = format!(
        "fix = {{ listen = \"127.0.0.1:{port}\", sessions = \"fix.json\" }}\nlimits = {{ max_working_orders = 10000 }}"
    );
    let platform = platform(test, &more)?;
    let token = platform.token(&["fix", "--role", "trader"]);
    let number = token.split('_').nth(1).unwrap();
    let sessions =
        json!({"sessions": [{"client": "DESK", "gateway": "COLO", "token": number, "account": 9}]});
    std::fs::write(platform.path("fix.json"), sessions.to_string()).unwrap();
    Some((platform, port, token))
}

/// An order of the other account, over HTTP.
fn other(platform: &Platform, token: &str, name: &str, side: &str, quantity: u32, price: &str) {
    let body = support::order(name, side, quantity, price).replace("\"account\":9", "\"account\":8");
    let answer = platform.ask(token, "POST", "/v1/orders", &body);
    assert!(matches!(answer.status, 200 | 201), "{answer:?}");
}

#[test]
fn orders_are_entered_changed_cancelled_and_filled() {
    let Some((platform, port, token)) = started("fix-life") else { return };
    let http = platform.token(&["http", "--role", "trader"]);
    let mut client = Client::new(port, &token);
    client.logon("");
    client.send("1", "112=there?|");
    client.expect(&[(35, "0"), (112, "there?")]);
    client.order("a", 1, 10, "99.50");
    let new =
        client.expect(&[(35, "8"), (150, "0"), (39, "0"), (11, "a"), (151, "10"), (14, "0"), (44, "99.5")]);
    assert_eq!(new.get(1), "9");
    // The same again sends nothing.
    client.order("a", 1, 10, "99.50");
    client.expect(&[(35, "8"), (150, "I"), (11, "a"), (37, new.get(37))]);
    client.order("a", 2, 10, "99.50");
    client.expect(&[(35, "8"), (150, "8"), (103, "6")]);
    client.send("G", &format!("11=b|41=a|55=SIM001|54=1|38=8|40=2|44=99.6|60={}|", now()));
    client.expect(&[(35, "8"), (150, "5"), (11, "b"), (41, "a"), (38, "8"), (44, "99.6"), (39, "0")]);
    other(&platform, &http, "s1", "sell", 2, "99.6");
    other(&platform, &http, "s2", "sell", 1, "99.6");
    client.expect(&[
        (35, "8"),
        (150, "F"),
        (39, "1"),
        (11, "b"),
        (32, "2"),
        (31, "99.6"),
        (151, "6"),
        (14, "2"),
        (6, "99.6"),
    ]);
    client.expect(&[(35, "8"), (150, "F"), (39, "1"), (14, "3"), (151, "5")]);
    // By its first name too.
    client.send("F", &format!("11=c|41=a|55=SIM001|54=1|38=8|60={}|", now()));
    client.expect(&[(35, "8"), (150, "4"), (39, "4"), (11, "c"), (41, "b"), (14, "3"), (151, "0")]);
    client.send("F", &format!("11=d|41=b|55=SIM001|54=1|60={}|", now()));
    client.expect(&[(35, "9"), (434, "1"), (102, "0"), (11, "d"), (39, "4")]);
    client.send("F", &format!("11=e|41=never|55=SIM001|54=1|60={}|", now()));
    client.expect(&[(35, "9"), (102, "1"), (37, "NONE")]);
    // Prices on both sides: the average is of what has traded.
    other(&platform, &http, "s3", "sell", 1, "98");
    other(&platform, &http, "s4", "sell", 1, "99");
    client.order("two", 1, 2, "99");
    client.expect(&[(35, "8"), (150, "0"), (11, "two")]);
    client.expect(&[(35, "8"), (150, "F"), (31, "98"), (6, "98"), (39, "1")]);
    client.expect(&[(35, "8"), (150, "F"), (31, "99"), (6, "98.5"), (39, "2"), (151, "0")]);
    client.order("tick", 1, 1, "99.123");
    let refused = client.expect(&[(35, "8"), (150, "8"), (39, "8"), (58, "off-tick")]);
    assert_ne!(refused.get(37), "NONE", "td has refused it");
    client.send("D", "11=x|55=NEVER|54=1|38=1|40=2|44=1|");
    client.expect(&[(35, "8"), (150, "8"), (103, "1"), (37, "NONE")]);
    client.send("D", "11=y|55=SIM001|54=1|40=2|44=1|");
    client.expect(&[(35, "3"), (371, "38"), (373, "1"), (372, "D")]);
    client.send("D", "11=z|1=7|55=SIM001|54=1|38=1|40=2|44=99|");
    client.expect(&[(35, "8"), (150, "8"), (103, "15")]);
    client.send("D", "11=ioc|55=SIM001|54=1|38=4|40=1|59=3|");
    client.expect(&[(35, "8"), (11, "ioc")]);
    while client.next_in < 1_000 {
        client.send("1", "112=end|");
        let message = client.next().unwrap();
        if message.is(&[(35, "0"), (112, "end")]) {
            break;
        }
        assert!(message.is(&[(35, "8"), (11, "ioc")]), "{message:?}");
    }
    for name in ["m1", "m2", "m3"] {
        client.order(name, 1, 1, "95");
        client.expect(&[(35, "8"), (150, "0"), (11, name)]);
    }
    client.send("AF", "584=all|585=7|");
    for number in 0..3 {
        let last = if number == 2 { "Y" } else { "N" };
        client.expect(&[(35, "8"), (150, "I"), (584, "all"), (911, "3"), (912, last)]);
    }
    client.send("H", "11=m1|55=SIM001|54=1|");
    client.expect(&[(35, "8"), (150, "I"), (11, "m1"), (39, "0")]);
    client.send("q", &format!("11=mass|530=7|60={}|", now()));
    let mut kinds: Vec<String> = (0..4).map(|_| client.next().unwrap().get(35).to_owned()).collect();
    kinds.sort();
    assert_eq!(kinds, ["8", "8", "8", "r"]);
    client.send("B", "148=news|");
    client.expect(&[(35, "j"), (380, "3"), (372, "B")]);
    client.send("5", "");
    client.expect(&[(35, "5")]);
    assert!(client.read().is_none(), "closed");
    let audit = platform.colo(&["audit", &platform.name]);
    assert!(audit.status.success(), "{}", String::from_utf8_lossy(&audit.stdout));
    let log = platform.log("gateway");
    assert!(!log.contains(token.rsplit('_').next().unwrap()) && !log.contains("panicked"), "{log}");
}

#[test]
fn after_a_kill_numbers_go_on_and_every_report_comes_once() {
    let Some((platform, port, token)) = started("fix-kill") else { return };
    let http = platform.token(&["http", "--role", "trader"]);
    let mut client = Client::new(port, &token);
    client.logon("");
    let mut ids = HashMap::new();
    for number in 0..20 {
        client.order(&format!("o{number}"), 1, 2, "99");
        let report = client.expect(&[(35, "8"), (150, "0")]);
        ids.insert(report.get(11).to_owned(), report.get(37).to_owned());
    }
    client.send("G", &format!("11=r0|41=o0|55=SIM001|54=1|38=2|40=2|44=98|60={}|", now()));
    client.expect(&[(35, "8"), (150, "5"), (11, "r0")]);
    // In one go: orders that nobody has heard of yet, and the end.
    for number in 20..40 {
        client.order(&format!("o{number}"), 1, 2, "99");
    }
    platform.kill("gateway");
    client.stream = None;
    // While the session is away something trades.
    other(&platform, &http, "s", "sell", 3, "99");
    let before = client.next_in;
    client.connect();
    client.send("A", &format!("98=0|108=30|554={token}|"));
    let answer = client.read().unwrap();
    let here: u64 = answer.get(34).parse().unwrap();
    assert!(answer.get(35) == "A" && here >= before, "{answer:?}");
    client.next_in = here + 1;
    // What was sent and not read is missing to us.
    let mut all: Vec<Message> = Vec::new();
    client.send("1", "112=here|");
    let end = Instant::now() + WATCHDOG;
    loop {
        assert!(Instant::now() < end);
        let message = client.next().unwrap();
        match message.get(35) {
            "0" if message.get(112) == "here" => {
                client.send("2", &format!("7={before}|16={here}|"));
                client.send("1", "112=done|");
            }
            "0" => break,
            "2" => {
                // It has not acted upon these: they are filled, and the orders sent again below.
                let (from, next) = (message.get(7).parse().unwrap(), client.next_out);
                assert!(from <= next);
                client.send_as(from, "4", &format!("43=Y|123=Y|36={next}|"));
                client.send("1", "112=here|");
            }
            "8" => all.push(message),
            "4" | "A" => {}
            other => panic!("{other}: {message:?}"),
        }
    }
    let news = |all: &[Message], number: u32| {
        let name = format!("o{number}");
        all.iter().filter(|message| message.is(&[(150, "0"), (11, &name)]) && message.get(43) != "Y").count()
    };
    // Those that it had not heard are sent again, by their names.
    let unheard: Vec<u32> =
        (20..40).filter(|number| !all.iter().any(|one| one.get(11) == format!("o{number}"))).collect();
    for number in &unheard {
        client.order(&format!("o{number}"), 1, 2, "99");
    }
    client.send("1", "112=again|");
    loop {
        let message = client.next().unwrap();
        match message.get(35) {
            "0" => break,
            "8" => all.push(message),
            other => panic!("{other}: {message:?}"),
        }
    }
    for number in 20..40 {
        assert!(news(&all, number) <= 1, "o{number} is new once");
        assert!(all.iter().any(|one| one.get(11) == format!("o{number}")), "o{number} is heard of");
    }
    let mut exec_ids: Vec<&str> =
        all.iter().filter(|one| one.get(43) != "Y").map(|one| one.get(17)).collect();
    let count = exec_ids.len();
    exec_ids.sort_unstable();
    exec_ids.dedup();
    assert_eq!(exec_ids.len(), count, "each ExecID once");
    let filled: i64 = all
        .iter()
        .filter(|one| one.get(150) == "F" && one.get(43) != "Y")
        .map(|one| one.get(32).parse::<i64>().unwrap())
        .sum();
    assert_eq!(filled, 3);
    // All that was ever sent, again: the same, in the same places.
    client.send("2", "7=1|16=0|");
    client.send("1", "112=end|");
    let mut again = Vec::new();
    loop {
        let message = client.next().unwrap();
        match message.get(35) {
            "0" => break,
            "8" => {
                assert!(message.is(&[(43, "Y")]) && !message.get(122).is_empty(), "{message:?}");
                again.push(message);
            }
            "4" => assert!(message.is(&[(43, "Y"), (123, "Y")]), "{message:?}"),
            other => panic!("{other}: {message:?}"),
        }
    }
    let first = again.iter().find(|one| one.is(&[(150, "0"), (11, "o0")])).unwrap();
    assert_eq!(first.get(37), ids["o0"]);
    // The order's newer name is known over the kill.
    client.send("F", &format!("11=c0|41=r0|55=SIM001|54=1|60={}|", now()));
    client.expect(&[(35, "8"), (150, "4"), (11, "c0"), (41, "r0"), (37, &ids["o0"])]);
    let open = platform.until(&http, "/v1/orders?account=9&limit=1000", |body| body["orders"].is_array());
    let names: Vec<&Value> =
        open["orders"].as_array().unwrap().iter().map(|order| &order["client_order_id"]).collect();
    assert_eq!(names.len(), 40, "none lost, none twice");
    assert!(!platform.log("gateway").contains("panicked"));
}

#[test]
fn wrong_numbers_are_asked_for_passed_over_or_the_end() {
    let Some((platform, port, token)) = started("fix-numbers") else { return };
    let mut client = Client::new(port, &token);
    client.logon("");
    // Two are missing: they are asked for, and what came with them comes again.
    client.next_out += 2;
    client.order("late", 1, 1, "95");
    let asked = client.expect(&[(35, "2"), (16, "0")]);
    assert_eq!(asked.get(7), "2");
    client.send_as(2, "4", "43=Y|123=Y|36=4|");
    client.send_as(4, "D", "43=Y|11=late|55=SIM001|54=1|38=1|40=2|44=95|");
    client.expect(&[(35, "8"), (150, "0"), (11, "late")]);
    // It was there: nothing.
    client.send_as(4, "D", "43=Y|11=late|55=SIM001|54=1|38=1|40=2|44=95|");
    client.send("1", "112=a|");
    client.expect(&[(35, "0"), (112, "a")]);
    // What is garbled is passed over, and its number is not used up.
    let stream = client.stream.as_mut().unwrap();
    stream.write_all(b"8=FIX.4.4\x019=5\x0135=0\x0110=000\x01rubbish\x01").unwrap();
    client.send("1", "112=b|");
    client.expect(&[(35, "0"), (112, "b")]);
    client.send("4", "123=Y|36=1|");
    client.expect(&[(35, "3"), (371, "36")]);
    client.send_as(1, "1", "112=c|");
    let last = client.expect(&[(35, "5")]);
    assert!(last.get(58).contains("MsgSeqNum too low"), "{last:?}");
    assert!(client.read().is_none());
    // Too low at the logon: the same.
    let next = std::mem::replace(&mut client.next_out, 1);
    client.connect();
    let token_ = client.token.clone();
    client.send("A", &format!("98=0|108=30|554={token_}|"));
    assert!(client.expect(&[(35, "5")]).get(58).contains("too low"));
    // Too high: the logon is answered, and what is missing asked for.
    client.next_out = next + 5;
    client.logon("");
    client.expect(&[(35, "2")]);
    let high = client.next_out;
    client.send_as(1, "4", &format!("36={high}|"));
    client.send("1", "112=d|");
    client.expect(&[(35, "0"), (112, "d")]);
    client.send("5", "");
    client.expect(&[(35, "5")]);
    // Both begin again only where it is asked for.
    (client.next_out, client.next_in) = (1, 1);
    let reset = client.logon("141=Y|");
    assert!(reset.is(&[(141, "Y"), (34, "1")]), "{reset:?}");
    // One connection a session.
    let mut second = Client::new(port, &token);
    second.connect();
    second.send("A", &format!("98=0|108=30|554={token}|"));
    assert!(second.read().unwrap().get(58).contains("already"));
    client.send("1", "112=e|");
    client.expect(&[(35, "0"), (112, "e")]);
    client.write("35=0|49=WRONG|56=COLO|34=3|52=20260101-00:00:00|");
    client.expect(&[(35, "3"), (373, "9")]);
    client.expect(&[(35, "5")]);
    assert!(!platform.log("gateway").contains("panicked"));
}

#[test]
fn who_may_not_is_sent_away() {
    let Some((platform, port, token)) = started("fix-may") else { return };
    let viewer = platform.token(&["v"]);
    let try_logon = |token: &str, begin: &'static str, more: &str| {
        let mut client = Client::new(port, token);
        client.begin = begin;
        client.connect();
        client.send("A", &format!("98=0|554={token}|{more}"));
        let answer = client.read();
        answer.map(|message| (message.get(35).to_owned(), message.get(58).to_owned()))
    };
    let refused = |answer: Option<(String, String)>, word: &str| {
        let (kind, text) = answer.unwrap();
        assert!(kind == "5" && text.contains(word), "{kind}: {text}");
    };
    refused(try_logon("wrong", "FIX.4.4", "108=30|"), "password");
    refused(try_logon(&viewer, "FIX.4.4", "108=30|"), "password");
    refused(try_logon(&token, "FIX.4.2", "108=30|"), "BeginString");
    refused(try_logon(&token, "FIXT.1.1", "108=30|"), "1137");
    refused(try_logon(&token, "FIX.4.4", ""), "108");
    refused(try_logon(&token, "FIX.4.4", "108=0|"), "108");
    let mut client = Client::new(port, &token);
    client.begin = "FIXT.1.1";
    let answer = client.logon("1137=9|");
    assert_eq!(answer.get(1137), "9");
    // Revoked, it is over within a moment.
    assert!(platform.colo(&["token", "revoke", "fix"]).status.success());
    assert!(client.expect(&[(35, "5")]).get(58).contains("not good any more"));
    refused(try_logon(&token, "FIX.4.4", "108=30|"), "password");
    let mut rude = TcpStream::connect(("127.0.0.1", port)).unwrap();
    rude.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut text = Vec::new();
    rude.set_read_timeout(Some(WATCHDOG)).unwrap();
    let _ = rude.read_to_end(&mut text);
    assert!(text.is_empty(), "who speaks no FIX is not answered");
    assert!(!platform.log("gateway").contains("panicked"));
}

/// Keys and certificates in a folder: an authority, and what it has signed for these. False: there is no openssl.
fn certificates(folder: &Path, names: &[&str]) -> bool {
    let openssl = |arguments: &str| {
        let done = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output();
        done.is_ok_and(|done| done.status.success())
    };
    std::fs::write(folder.join("ext"), "basicConstraints=CA:FALSE\nsubjectAltName=DNS:localhost\n").unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&format!("req -x509 {key} -keyout ca.key -out ca.pem -subj /CN=ca -days 2"))
        && names.iter().all(|name| {
            openssl(&format!("req {key} -keyout {name}.key -out {name}.csr -subj /CN={name}"))
                && openssl(&format!(
                    "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out {name}.pem -days 2 -extfile ext"
                ))
        })
}

#[test]
fn a_certificate_takes_the_place_of_a_password_for_its_own_session_only() {
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let folder = tempfile::tempdir().unwrap();
    if !certificates(folder.path(), &["server", "desk", "other"]) {
        println!("skipped: there is no openssl, which makes the certificates");
        return;
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let at = |name: &str| folder.path().join(name);
    let more = format!(
        "fix = {{ listen = \"127.0.0.1:{port}\", sessions = \"fix.json\" }}\n\
         tls = {{ cert = {:?}, key = {:?}, client_ca = {:?} }}",
        at("server.pem"),
        at("server.key"),
        at("ca.pem")
    );
    let Some(platform) = platform("fix-tls", &more) else { return };
    let token = platform.token(&["fix", "--role", "trader"]);
    let certificate = |name: &str| CertificateDer::from_pem_file(at(name)).unwrap();
    let digest = ring::digest::digest(&ring::digest::SHA256, &certificate("desk.pem"));
    let hex: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let session = json!({"client": "DESK", "gateway": "COLO", "token": token.split('_').nth(1), "account": 9, "certificate": hex});
    std::fs::write(platform.path("fix.json"), json!({"sessions": [session]}).to_string()).unwrap();
    let client = |name: Option<&str>| {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate("ca.pem")).unwrap();
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match name {
            None => config.with_no_client_auth(),
            Some(name) => {
                let key = PrivateKeyDer::from_pem_file(at(&format!("{name}.key"))).unwrap();
                config.with_client_auth_cert(vec![certificate(&format!("{name}.pem"))], key).unwrap()
            }
        };
        let mut client = Client::new(port, &token);
        client.tls = Some(std::sync::Arc::new(config));
        client.connect();
        client
    };
    for name in [None, Some("other")] {
        let mut client = client(name);
        client.send("A", "98=0|108=30|");
        assert!(client.expect(&[(35, "5")]).get(58).contains("password"), "{name:?}");
    }
    let mut desk = client(Some("desk"));
    desk.send("A", "98=0|108=30|");
    desk.expect(&[(35, "A")]);
    desk.order("a", 1, 1, "95");
    desk.expect(&[(35, "8"), (150, "0"), (11, "a")]);
    drop(desk);
    // A password is good without one too.
    let mut client = client(None);
    (client.next_out, client.next_in) = (3, 3);
    client.send("A", &format!("98=0|108=30|554={token}|"));
    assert_eq!(client.read().unwrap().get(35), "A");
    assert!(!platform.log("gateway").contains("panicked"));
}

#[test]
fn market_data_is_a_snapshot_and_then_what_changes() {
    let Some((platform, port, token)) = started("fix-market") else { return };
    let http = platform.token(&["http", "--role", "trader"]);
    other(&platform, &http, "b1", "buy", 5, "98");
    let mut client = Client::new(port, &token);
    client.logon("");
    client.send("V", "262=r|263=1|264=0|265=1|267=3|269=0|269=1|269=2|146=1|55=SIM001|");
    let first = client.expect(&[(35, "W"), (262, "r"), (55, "SIM001")]);
    assert!(first.get(268) == "0" || first.is(&[(270, "98"), (271, "5")]), "{first:?}");
    other(&platform, &http, "b2", "buy", 2, "98.5");
    let more = loop {
        let message = client.expect(&[(35, "X"), (262, "r")]);
        if message.0.contains(&(270, "98.5".to_owned())) {
            break message;
        }
    };
    assert!(more.is(&[(279, "0"), (269, "0"), (55, "SIM001")]) || more.get(268) != "1", "{more:?}");
    client.send("D", "11=hit|55=SIM001|54=2|38=1|40=2|44=98.5|");
    let (mut trade, mut fill) = (false, false);
    while !(trade && fill) {
        let message = client.next().unwrap();
        trade |= message.get(35) == "X" && message.is(&[(269, "2"), (270, "98.5"), (271, "1")]);
        fill |= message.is(&[(35, "8"), (150, "F")]);
    }
    client.send("V", "262=r|263=1|264=0|265=1|269=0|55=SIM001|");
    let refused = loop {
        let message = client.next().unwrap();
        if message.get(35) == "Y" {
            break message;
        }
    };
    assert_eq!(refused.get(281), "1");
    client.send("V", "262=r|263=2|264=0|269=0|55=SIM001|");
    client.send("V", "262=q|263=0|264=1|269=0|55=NEVER|");
    loop {
        let message = client.next().unwrap();
        if message.get(35) == "Y" {
            assert_eq!(message.get(281), "0");
            break;
        }
    }
    assert!(!platform.log("gateway").contains("panicked"));
}

#[test]
fn quickfix_j_trades_and_survives_a_kill_of_the_gateway() {
    let target = Path::new(env!("CARGO_BIN_EXE_colo-gateway")).ancestors().nth(2).unwrap();
    let jars = target.join("quickfixj");
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quickfixj");
    let has_java = Command::new("java").arg("-version").output().is_ok_and(|done| done.status.success());
    if !jars.is_dir() || !has_java {
        println!(
            "skipped: there is no java, or no {}; `mvn dependency:copy-dependencies -DoutputDirectory={}` in {} makes it",
            jars.display(),
            jars.display(),
            here.display()
        );
        return;
    }
    for version in ["FIX.4.4", "FIXT.1.1"] {
        let name = if version == "FIX.4.4" { "fix-qf44" } else { "fix-qf50" };
        let Some((platform, port, token)) = started(name) else { return };
        let http = platform.token(&["http", "--role", "trader"]);
        let mut child = Command::new("java")
            .arg("-cp")
            .arg(format!("{}/*", jars.display()))
            .arg(here.join("Counterparty.java"))
            .args([version, &port.to_string(), &token])
            .arg(platform.path("quickfixj"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        let watchdog = std::thread::spawn(move || {
            if is_done.recv_timeout(Duration::from_secs(180)).is_err() {
                let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
            }
        });
        let mut last = String::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            println!("quickfixj: {line}");
            let answer = match line.split_once(' ').unwrap_or((&line, "")) {
                ("KILL", _) => {
                    platform.kill("gateway");
                    true
                }
                ("SELL", rest) => {
                    let words: Vec<&str> = rest.split(' ').collect();
                    other(&platform, &http, words[0], "sell", words[1].parse().unwrap(), words[2]);
                    true
                }
                _ => false,
            };
            if answer {
                writeln!(child.stdin.as_mut().unwrap(), "done").unwrap();
            }
            last = line;
        }
        let status = child.wait().unwrap();
        let _ = done.send(());
        watchdog.join().unwrap();
        assert!(status.success() && last == "GOOD", "{version}: {last}\n{}", platform.log("gateway"));
        let audit = platform.colo(&["audit", &platform.name]);
        assert!(audit.status.success(), "{}", String::from_utf8_lossy(&audit.stdout));
    }
}
