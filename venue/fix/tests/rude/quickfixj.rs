//! QuickFIX/J as the market, with its own rules for every message.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use wire::{OrderStatus, Reason, Side, TimeInForce};

use crate::support::{Floor, LOT};

/// Ends with its owner: its standard input ends too.
struct Java(Child);

impl Drop for Java {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn started(jars: &Path, port: u16) -> (Java, Receiver<String>) {
    let venue = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rude/Venue.java");
    let mut child = Command::new("java")
        .arg("-cp")
        .arg(format!("{}/*", jars.display()))
        .arg(venue)
        .arg(port.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (there, here) = channel();
    let lines = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        for line in lines.lines().map_while(Result::ok) {
            let _ = there.send(line);
        }
    });
    (Java(child), here)
}

#[test]
fn quickfix_j_takes_every_message_and_all_that_it_executes_is_booked_or_listed() {
    let target = Path::new(env!("CARGO_BIN_EXE_colo-fix-out")).ancestors().nth(2).unwrap();
    let jars = target.join("quickfixj");
    let has_java = Command::new("java").arg("-version").output().is_ok_and(|done| done.status.success());
    if !jars.is_dir() || !has_java {
        println!(
            "skipped: there is no java, or no {}; CONTRIBUTING.md has the command that makes it",
            jars.display()
        );
        return;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (_java, lines) = started(&jars, port);
    let folder = tempfile::tempdir().unwrap();
    let more = serde_json::json!({"connect": format!("127.0.0.1:{port}"), "positions": true});
    let mut floor = Floor::open(folder.path(), more);
    let (busted, _) = floor.order(Side::Buy, TimeInForce::Day);
    floor.until("the cancelled trade", |floor| floor.driver.unbooked().len() == 1);
    floor.hold(4, -4);
    floor.take(&venue::Input::Stop(false));
    let (late, _) = floor.order(Side::Buy, TimeInForce::Day);
    floor.until("the late trade", |floor| floor.driver.unbooked().len() == 2);
    assert_eq!((floor.booked(), floor.listed()), (4 * LOT, -4 * LOT + 5 * LOT / 2));
    assert_eq!(floor.last(late), Some((OrderStatus::Cancelled, Reason::None)));
    let (refused, _) = floor.order(Side::Buy, TimeInForce::Day);
    floor.until("the refusal", |floor| floor.last(refused).is_some());
    assert_eq!(floor.last(refused), Some((OrderStatus::Rejected, Reason::MarketClosed)));
    let (lasting, _) = floor.order(Side::Buy, TimeInForce::GoodTillCancel);
    floor.until("the trade of the next day", |floor| floor.booked() == 11 * LOT);
    assert_eq!(floor.last(lasting), Some((OrderStatus::PartiallyFilled, Reason::None)));
    floor.replace(busted, 101, 12);
    floor.cancel(busted);
    let mut heard: Vec<String> = Vec::new();
    let wanted = ["HEARD D", "HEARD F", "HEARD G", "HEARD H", "HEARD AN"];
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !wanted.iter().all(|wanted| heard.iter().any(|line| line == wanted)) {
        assert!(std::time::Instant::now() < end, "{heard:?}");
        floor.turn();
        heard.extend(lines.try_iter());
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(!heard.iter().any(|line| line.starts_with("ERROR")), "{heard:?}");
}
