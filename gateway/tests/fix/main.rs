//! FIX: sessions of a client of our own, and of QuickFIX/J.

mod certificates;
mod client;
mod quickfixj;
#[path = "../support/mod.rs"]
mod support;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use client::{Client, Message, before, now, other, started, started_with};
use serde_json::Value;
use support::WATCHDOG;

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
    // Whatever trades of it, it ends.
    while !["2", "4", "8"].contains(&client.expect(&[(35, "8"), (11, "ioc")]).get(39)) {}
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
    let answers: Vec<Message> = (0..4).map(|_| client.next().unwrap()).collect();
    let mut kinds: Vec<&str> = answers.iter().map(|answer| answer.get(35)).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["8", "8", "8", "r"]);
    assert!(answers.iter().all(|answer| answer.get(1369).is_empty()), "no field of FIX 4.4: {answers:?}");
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

/// The reports of orders are overwritten while the session is away, and the gateway is killed: it does not know how they ended. The
/// session was told how one of them did; of the other it hears that this is not known.
#[test]
fn an_order_whose_end_is_not_known_is_never_told_as_new() {
    let small = "[journal.reports]\ncapacity = \"64KiB\"\n";
    let Some((platform, port, token)) = started_with("fix-unknown", small) else { return };
    let http = platform.token(&["http", "--role", "trader"]);
    let mut client = Client::new(port, &token);
    client.logon("");
    client.order("done", 1, 3, "95");
    let done = client.expect(&[(35, "8"), (150, "0"), (11, "done")]);
    other(&platform, &http, "s", "sell", 3, "95");
    client.expect(&[(35, "8"), (150, "F"), (39, "2"), (14, "3")]);
    client.order("open", 1, 2, "94");
    client.expect(&[(35, "8"), (150, "0"), (39, "0"), (11, "open")]);
    client.send("5", "");
    client.expect(&[(35, "5")]);
    assert_eq!(platform.ask(&http, "DELETE", "/v1/clients/9/open", "").status, 200);
    for round in 0..12 {
        let one = |number: usize| {
            format!(
                r#"{{"client_order_id":"r{round}-{number}","account":8,"symbol":"SIM002","side":"buy","quantity":1,"price":"95","time_in_force":"ioc"}}"#
            )
        };
        let body = (0..100).map(one).collect::<Vec<_>>().join(",");
        let answer = platform.ask(&http, "POST", "/v1/orders/batch", &format!(r#"{{"orders":[{body}]}}"#));
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    platform.kill("gateway");
    for name in ["done", "open"] {
        let path = format!("/v1/clients/9/{name}");
        platform.until(&http, &path, |order| {
            order["status"] == "unknown" || order["order"]["status"] == "unknown"
        });
    }
    client.logon("");
    client.send("H", "11=done|55=SIM001|54=1|");
    client.send("H", "11=open|55=SIM001|54=1|");
    client.send("F", &format!("11=c1|41=done|55=SIM001|54=1|60={}|", now()));
    client.send("F", &format!("11=c2|41=open|55=SIM001|54=1|60={}|", now()));
    client.send("1", "112=end|");
    let mut all = Vec::new();
    loop {
        let message = client.next().expect("the session goes on");
        if message.is(&[(35, "0"), (112, "end")]) {
            break;
        }
        assert!(!message.is(&[(35, "8"), (39, "0")]), "told as New: {message:?}");
        all.push(message);
    }
    // Answers come behind the test's when the core is asked.
    while all.iter().filter(|message| matches!(message.get(35), "8" | "9" | "j")).count() < 4 {
        all.push(client.next().expect("the session goes on"));
    }
    let has = |values: &[(u32, &str)]| all.iter().any(|message| message.is(values));
    assert!(
        has(&[(35, "8"), (150, "I"), (37, done.get(37)), (39, "2"), (14, "3"), (151, "0"), (6, "95")]),
        "{all:?}"
    );
    assert!(has(&[(35, "9"), (11, "c1"), (39, "2")]), "{all:?}");
    assert!(has(&[(35, "j"), (372, "H"), (379, "open")]), "{all:?}");
    assert!(has(&[(35, "j"), (372, "F"), (379, "c2")]), "{all:?}");
    assert!(!has(&[(35, "8"), (39, "0")]), "told as New: {all:?}");
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
    // One connection a session: a Logon with a wrong number replaces none.
    let mut second = Client::new(port, &token);
    second.connect();
    second.send("A", &format!("98=0|108=30|554={token}|"));
    assert!(second.read().unwrap().get(58).contains("MsgSeqNum too low"));
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
    client.send("q", &format!("11=mass|530=7|60={}|", now()));
    assert!(!client.expect(&[(35, "r"), (531, "7")]).get(1369).is_empty(), "FIX 5.0 SP2 demands it");
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
fn a_session_goes_on_at_the_next_platform_and_hears_of_its_orders_there() {
    let Some((platform, port, token)) = started("fix-anew") else { return };
    let mut client = Client::new(port, &token);
    client.logon("");
    for name in ["a", "b", "c"] {
        client.order(name, 1, 1, "95");
        client.expect(&[(35, "8"), (150, "0"), (11, name)]);
    }
    // Another one in its place, whose journals begin anew.
    let down = platform.colo(&["down", &platform.name]);
    assert!(down.status.success(), "{}", String::from_utf8_lossy(&down.stderr));
    let up = platform.colo(&["up", "g.toml", "--stay"]);
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
    // What it said last, nobody has read: it comes again.
    client.connect();
    let token = client.token.clone();
    // No heartbeat comes before the watchdog.
    client.send("A", &format!("98=0|108=300|554={token}|"));
    let seen = client.read().unwrap();
    assert!(seen.is(&[(35, "A")]), "{seen:?}");
    client.next_in = seen.get(34).parse::<u64>().unwrap() + 1;
    client.order("d", 1, 1, "95");
    client.expect(&[(35, "8"), (150, "0"), (11, "d")]);
}

#[test]
fn two_gateways_never_have_the_same_sessions() {
    let Some((platform, _, _)) = started("fix-lock") else { return };
    let path = platform.path("fix.json.d/lock");
    assert!(node::OwnLock::take(&path).unwrap().is_none(), "the gateway has it");
    assert!(platform.colo(&["down", &platform.name]).status.success());
    let file = platform.path("g.toml");
    let text = std::fs::read_to_string(&file).unwrap().replace("restart_max = 1000", "restart_max = 0");
    std::fs::write(&file, text).unwrap();
    let lock = node::OwnLock::take(&path).unwrap().unwrap();
    let up = platform.colo(&["up", "g.toml", "--stay"]);
    let said = String::from_utf8_lossy(&up.stderr).into_owned() + &platform.log("gateway");
    assert!(!up.status.success() && said.contains("another gateway has the sessions"), "{said}");
    drop(lock);
    let up = platform.colo(&["up", "g.toml", "--stay"]);
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
}

/// A power cut takes reports that the disk does not have and the client has. Their positions are used again.
#[test]
fn a_session_goes_on_at_the_recovered_platform_and_misses_no_report() {
    let recorder = "[[recorder]]\npath = \"recordings\"\n";
    let Some((platform, port, token)) = started_with("fix-recover", recorder) else { return };
    let mut client = Client::new(port, &token);
    client.logon("");
    for number in 0..20 {
        client.order(&format!("o{number}"), 1, 1, "99");
        client.expect(&[(35, "8"), (150, "0")]);
    }
    platform.until_recorded();
    platform.stop("recorder");
    for number in 0..5 {
        client.order(&format!("lost{number}"), 1, 1, "98");
        client.expect(&[(35, "8"), (150, "0")]);
    }
    platform.cut();
    client.stream = None;
    let recording = platform.path("recordings").join(&platform.name);
    let up = platform.colo(&["up", "--recover", recording.to_str().unwrap(), "--stay"]);
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
    // More reports than were lost, before the client comes again.
    let http = platform.token(&["http", "--role", "trader"]);
    for number in 0..20 {
        other(&platform, &http, &format!("s{number}"), "sell", 1, "99");
    }
    let logon = client.logon("");
    assert!(logon.is(&[(35, "A")]), "{logon:?}");
    let (mut filled, end) = (Vec::new(), Instant::now() + WATCHDOG);
    while filled.len() < 20 {
        assert!(Instant::now() < end, "told of {filled:?} alone");
        client.send("1", "112=more?|");
        loop {
            let message = client.next().unwrap();
            if message.is(&[(35, "0")]) {
                break;
            }
            assert!(message.is(&[(35, "8"), (150, "F"), (39, "2"), (6, "99")]), "{message:?}");
            filled.push(message.get(11).to_owned());
        }
    }
    filled.sort_unstable();
    filled.dedup();
    assert_eq!(filled.len(), 20, "each order trades once");
}

/// Statuses are asked for while the orders trade: the core is ahead of the session's reports, or behind them.
#[test]
fn a_status_is_never_behind_the_reports_of_its_session_nor_ahead_of_them() {
    let Some((platform, port, token)) = started("fix-status") else { return };
    let http = platform.token(&["http", "--role", "trader"]);
    let mut client = Client::new(port, &token);
    client.logon("");
    let time = now();
    let mut statuses = 0;
    for round in 0..100 {
        let name = format!("o{round}");
        for part in 0..4 {
            other(&platform, &http, &format!("s{round}-{part}"), "sell", 1, "100");
        }
        let body = format!("11={name}|1=9|55=SIM001|54=1|38=4|40=2|44=100|59=0|60={time}|");
        client.send("D", &body);
        // One answers at once, from what the core has; the session hears of the trade over another way.
        for _ in 0..20 {
            match round % 3 {
                0 => client.send("D", &body),
                1 => client.send("H", &format!("11={name}|1=9|55=SIM001|54=1|")),
                _ => client.send("AF", &format!("584=m{round}|585=7|")),
            }
        }
        client.send("1", "112=here|");
        // The order as the reports have it, and the statuses between them.
        let (mut filled, mut value, mut stands, mut is_over) = (0, 0.0, "A".to_owned(), false);
        while !is_over || stands != "2" {
            let message = client.next().unwrap();
            match (message.get(35), message.get(150)) {
                ("0", _) => is_over = true,
                ("8", kind) if message.get(11) == name => {
                    if kind == "F" {
                        let lots: i64 = message.get(32).parse().unwrap();
                        filled += lots;
                        value += lots as f64 * message.get(31).parse::<f64>().unwrap();
                    }
                    statuses += u32::from(kind == "I");
                    let average = if filled > 0 { value / filled as f64 } else { 0.0 };
                    assert_eq!(message.get(14), filled.to_string(), "round {round}, CumQty: {message:?}");
                    assert_eq!(
                        message.get(6).parse::<f64>().unwrap(),
                        average,
                        "round {round}, AvgPx: {message:?}"
                    );
                    if kind == "I" {
                        assert_eq!(message.get(39), stands, "round {round}, OrdStatus: {message:?}");
                    }
                    stands = message.get(39).to_owned();
                }
                ("8", _) => {}
                other => panic!("{other:?}: {message:?}"),
            }
        }
    }
    assert!(statuses > 100, "{statuses} statuses");
    assert!(!platform.log("gateway").contains("panicked"));
}

/// The client's host has lost the connection, and the gateway does not know it.
#[test]
fn a_new_logon_replaces_a_half_open_connection_and_loses_nothing() {
    let Some((platform, port, token)) = started("fix-half") else { return };
    let mut client = Client::new(port, &token);
    client.logon("");
    client.order("a", 1, 1, "95");
    client.expect(&[(35, "8"), (150, "0"), (11, "a")]);
    for round in 0..3 {
        let mut half_open = client.stream.take();
        client.logon("");
        client.order(&format!("b{round}"), 1, 1, "95");
        client.expect(&[(35, "8"), (150, "0"), (11, &format!("b{round}"))]);
        // The old one has ended.
        let mut rest = Vec::new();
        let _ = half_open.as_mut().unwrap().read_to_end(&mut rest);
    }
    // A second Logon at the same time as the first: one of them has the session in the end, and it works.
    let mut other = Client::new(port, &token);
    (other.next_out, other.next_in) = (client.next_out, client.next_in);
    other.logon("");
    other.send("1", "112=still|");
    other.expect(&[(35, "0"), (112, "still")]);
    assert!(!platform.log("gateway").contains("panicked"));
}

/// What a wrong length or a doubled field leads to: the next message is acted upon at once, and none is guessed.
#[test]
fn a_message_that_is_wrong_keeps_back_no_other_and_is_not_guessed() {
    let Some((platform, port, token)) = started("fix-wrong") else { return };
    let mut client = Client::new(port, &token);
    client.logon("");
    for length in ["60000", "9999999", "1"] {
        let text = format!(
            "8=FIX.4.4\x019={length}\x0135=0\x0149=DESK\x0156=COLO\x0134=2\x0152={}\x0110=000\x01",
            now()
        );
        client.stream.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
        let id = format!("behind-{length}");
        client.order(&id, 1, 1, "95");
        client.expect(&[(35, "8"), (150, "0"), (11, &id)]);
    }
    for (number, doubled) in ["54=2|", "38=500|", "44=101|", "54=1|", "11=other|"].into_iter().enumerate() {
        let body =
            format!("11=twice-{number}|1=9|55=SIM001|54=1|38=1|40=2|44=95|59=0|60={}|{doubled}", now());
        client.send("D", &body);
        let tag = doubled.split('=').next().unwrap();
        client.expect(&[(35, "3"), (373, "13"), (371, tag), (372, "D")]);
    }
    // The numbers went on.
    client.order("last", 1, 1, "95");
    client.expect(&[(35, "8"), (150, "0"), (11, "last")]);
    let http = platform.token(&["http", "--role", "trader"]);
    let all = platform.ask(&http, "GET", "/v1/orders?working=true", "");
    assert_eq!(all.body["orders"].as_array().unwrap().len(), 4, "{all:?}");
}

#[test]
fn a_message_that_is_later_than_its_session_allows_is_not_acted_upon() {
    let Some((platform, port, token)) = started("fix-late") else { return };
    let path = platform.path("fix.json");
    let usual = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, usual.replace("\"account\"", "\"max_latency\":60,\"account\"")).unwrap();
    let mut client = Client::new(port, &token);
    client.logon("");
    let late = |client: &mut Client, id: &str, seconds: u64| {
        let (sequence, then) = (client.next_out, before(seconds));
        client.next_out += 1;
        client.write(&format!(
            "35=D|49=DESK|56=COLO|34={sequence}|52={then}|11={id}|1=9|55=SIM001|54=1|38=1|40=2|44=95|59=0|60={then}|"
        ));
    };
    late(&mut client, "late", 90);
    client.expect(&[(35, "3"), (373, "10")]);
    client.expect(&[(35, "5")]);
    // A Logon too.
    let mut client = Client::new(port, &token);
    client.connect();
    client.write(&format!("35=A|49=DESK|56=COLO|34=1|52={}|98=0|108=30|554={token}|141=Y|", before(90)));
    assert!(client.read().unwrap().get(58).contains("SendingTime"));
    let http = platform.token(&["http", "--role", "trader"]);
    assert_eq!(platform.ask(&http, "GET", "/v1/clients/9/late", "").status, 404);
    // A session that does not check takes it.
    std::fs::write(&path, usual.replace("\"account\"", "\"check_latency\":false,\"account\"")).unwrap();
    let mut client = Client::new(port, &token);
    client.logon("141=Y|");
    late(&mut client, "any-time", 3_600);
    client.expect(&[(35, "8"), (150, "0"), (11, "any-time")]);
}

/// Bytes that are kept back by a length within a message are not acted upon later: the session ends.
#[test]
fn a_message_that_is_never_whole_ends_its_session() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let more = format!("head = \"3s\"\nfix = {{ listen = \"127.0.0.1:{port}\", sessions = \"fix.json\" }}");
    let Some(platform) = support::platform("fix-part", &more) else { return };
    let token = platform.token(&["fix", "--role", "trader"]);
    let number = token.split('_').nth(1).unwrap();
    let session = serde_json::json!({"client": "DESK", "gateway": "COLO", "token": number, "account": 9});
    std::fs::write(platform.path("fix.json"), serde_json::json!({"sessions": [session]}).to_string())
        .unwrap();
    let mut client = Client::new(port, &token);
    client.logon("");
    // A field of data with a large length: its bytes may be anything.
    let text = format!(
        "8=FIX.4.4\x019=60000\x0135=0\x0149=DESK\x0156=COLO\x0134=2\x0152={}\x0195=50000\x0196=",
        now()
    );
    client.stream.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    client.order("kept-back", 1, 1, "95");
    let last = client.expect(&[(35, "5")]);
    assert!(last.get(58).contains("not whole"), "{last:?}");
    assert!(client.next().is_none());
    assert_eq!(platform.ask(&token, "GET", "/v1/clients/9/kept-back", "").status, 404);
}
