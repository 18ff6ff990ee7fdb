//! A whole desk: what is not booked is seen, outlives a kill, stops new orders, and is settled by a verb.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Rude;

/// Nothing here may take longer.
const WATCHDOG: Duration = Duration::from_secs(90);

const DESK: &str = r#"
[platform]
instance = "NAME"
[md]
source = "sim"
instruments = 1
interval = "20ms"
readers = "loose"
mode = "parked"
[td]
mode = "parked"
[matching]
mode = "parked"
fill = "external"
program = "PROGRAM"
params = { connect = "ADDRESS", sender = "DESK", target = "RUDE", account = "9", state = "STATE", heartbeat = 2 }
restart_max = 10
restart_backoff = "0s"
[ledger]
mode = "parked"
[strategies]
instruments = "all"
mode = "parked"
[[strategies.group]]
name = "noise"
program = "builtin:noise"
count = 1
params = { every_ms = 20, max_position = 1000 }
[[accounts]]
number = 7
kind = "margin"
deposit = 1000000
"#;

pub(crate) struct Desk {
    colo: PathBuf,
    folder: PathBuf,
    pub(crate) name: String,
}

impl Desk {
    /// A desk whose orders go to this market, in a folder of its own; `None` where `colo` is not built.
    pub(crate) fn of(rude: &Rude, name: &str, folder: &Path) -> Option<Desk> {
        let program = Path::new(env!("CARGO_BIN_EXE_colo-fix-out"));
        let colo = program.with_file_name("colo");
        if !colo.exists() {
            println!("skipped: there is no {}; `cargo build -p colo` makes it", colo.display());
            return None;
        }
        let desk = Desk { colo, folder: folder.to_owned(), name: format!("{name}-{}", std::process::id()) };
        let config = DESK
            .replace("NAME", &desk.name)
            .replace("ADDRESS", &rude.address())
            .replace("PROGRAM", &program.display().to_string())
            .replace("STATE", &folder.join("desk.fix").display().to_string());
        std::fs::write(folder.join("desk.toml"), config).unwrap();
        Some(desk)
    }

    /// Starts it, with further arguments of `colo up`.
    pub(crate) fn up(&self, more: &[&str]) {
        let up = self.colo(&[&["up", "desk.toml", "--stay"], more].concat());
        assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
    }

    /// What the audit says, and its exit code.
    pub(crate) fn audit(&self) -> (Option<i32>, String) {
        let audit = self.colo(&["audit", &self.name]);
        (audit.status.code(), String::from_utf8(audit.stdout).unwrap())
    }

    pub(crate) fn colo(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(&self.colo);
        command.args(arguments).current_dir(&self.folder).env("XDG_STATE_HOME", &self.folder);
        command.output().unwrap()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.colo(&[arguments, &["--format", "json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    pub(crate) fn matching(&self) -> Value {
        let status = self.json(&["status", &self.name]);
        let nodes = status["nodes"].as_array().cloned().unwrap_or_default();
        nodes.into_iter().find(|node| node["node"] == "matching").unwrap_or_default()
    }

    /// What operators have decided.
    pub(crate) fn decisions(&self) -> String {
        let shared = || format!("/dev/shm/colo-{}", std::fs::metadata("/proc/self").unwrap().uid());
        let root = std::env::var("COLO_ROOT").unwrap_or_else(|_| shared());
        let path = Path::new(&root).join(&self.name).join("journals/matching.decisions");
        std::fs::read_to_string(path).unwrap_or_default()
    }

    pub(crate) fn unbooked(&self) -> Option<u64> {
        self.matching()["counters"]["unbooked"].as_u64()
    }

    pub(crate) fn until(&self, what: &str, is_there: impl Fn() -> bool) {
        let end = Instant::now() + WATCHDOG;
        while !is_there() {
            let log = self.folder.join(format!("colo/{}/matching.log", self.name));
            assert!(Instant::now() < end, "no {what}\n{}", std::fs::read_to_string(log).unwrap_or_default());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.colo(&["down", &self.name]);
    }
}

/// Fills every order at once, and cancels the first trade. Once it `ends_one`, it fills an order that it has ended before.
fn market(mut rude: Rude, orders: &Mutex<u64>, ends_one: &Mutex<bool>, is_over: &Receiver<()>) {
    while is_over.try_recv() == Err(TryRecvError::Empty) {
        rude.read();
        while let Some(message) = rude.heard.pop_front() {
            if message.kind() != "D" {
                continue;
            }
            let number = {
                let mut orders = orders.lock().unwrap();
                *orders += 1;
                *orders
            };
            let field = |tag| message.get(tag).unwrap_or_default().to_owned();
            let (name, lots, price) = (field(11), field(38), message.get(44).unwrap_or("100").to_owned());
            let head =
                format!("11={name}|37=V{number}|55={}|54={}|38={lots}|44={price}|", field(55), field(54));
            rude.say("8", &format!("{head}17=n{number}|150=0|39=0|14=0|151={lots}|6=0|"));
            if std::mem::take(&mut *ends_one.lock().unwrap()) {
                rude.say("8", &format!("{head}17=c{number}|150=4|39=4|14=0|151=0|6=0|"));
            }
            rude.say(
                "8",
                &format!("{head}17=t{number}|150=F|39=2|31={price}|32={lots}|14={lots}|151=0|6={price}|"),
            );
            rude.statuses.insert(name, format!("39=2|14={lots}|55={}|54={}|", field(55), field(54)));
            if number == 1 {
                rude.say("8", &format!("{head}17=b1|19=t1|150=H|39=4|31={price}|32={lots}|14=0|151=0|6=0|"));
                rude.statuses.insert(field(11), format!("39=4|14=0|55={}|54={}|", field(55), field(54)));
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_cancelled_trade_is_seen_outlives_a_kill_stops_orders_and_is_settled() {
    let folder = tempfile::tempdir().unwrap();
    let rude = Rude::listen();
    let Some(desk) = Desk::of(&rude, "venue-rude", folder.path()) else { return };
    let (orders, (over, is_over)) = (Arc::new(Mutex::new(0)), channel::<()>());
    let ends_one = Arc::new(Mutex::new(false));
    let acceptor = {
        let (orders, ends_one) = (Arc::clone(&orders), Arc::clone(&ends_one));
        std::thread::spawn(move || market(rude, &orders, &ends_one, &is_over))
    };
    let audit = || desk.audit();
    desk.up(&[]);
    desk.until("execution that is not booked", || desk.unbooked() == Some(1));
    let status = String::from_utf8(desk.colo(&["status", &desk.name]).stdout).unwrap();
    assert!(status.contains("NOT BOOKED: 1 execution of the market outside (matching)"), "{status}");
    let list = desk.json(&["venue", "list", "-i", &desk.name]);
    let row = &list["not_booked"][0];
    assert_eq!(
        (&row["why"], &row["trade"], &list["is_stopped"]),
        (&"busted".into(), &"t1".into(), &true.into())
    );
    let (code, text) = audit();
    assert!(code == Some(4) && text.contains("not booked: number 1,"), "{code:?}: {text}");
    let starts = desk.matching()["starts"].as_u64().unwrap();
    let pid = desk.matching()["pid"].as_u64().unwrap().to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    desk.until("restart", || desk.matching()["starts"].as_u64() > Some(starts));
    desk.until("state", || desk.matching()["state"] == "running");
    assert_eq!(desk.unbooked(), Some(1));
    assert_eq!(desk.json(&["venue", "list", "-i", &desk.name])["not_booked"][0], *row);
    // No fill says a cancelled trade.
    assert_eq!(desk.colo(&["venue", "book", "1", "--why", "try", "-i", &desk.name]).status.code(), Some(1));
    let before = *orders.lock().unwrap();
    desk.until("refusals", || desk.matching()["counters"]["closed_rejects"].as_u64() > Some(0));
    assert_eq!(*orders.lock().unwrap(), before, "no order goes out");
    let settled = desk.colo(&["venue", "settle", "1", "--why", "agreed", "--who", "ann", "-i", &desk.name]);
    assert!(settled.status.success(), "{}", String::from_utf8_lossy(&settled.stderr));
    desk.until("settlement", || desk.unbooked() == Some(0));
    let list = desk.json(&["venue", "list", "-i", &desk.name]);
    assert_eq!(list["settled"][0]["by"], "ann: agreed");
    desk.until("orders", || *orders.lock().unwrap() > before);
    let (code, text) = audit();
    assert_eq!(code, Some(0), "{text}");
    // A trade of an order that has ended stands in the books once a person has confirmed it.
    *ends_one.lock().unwrap() = true;
    desk.until("trade behind the end of its order", || desk.unbooked() == Some(1));
    let (code, text) = audit();
    assert!(code == Some(4) && text.contains("not booked: number 2,"), "{code:?}: {text}");
    // Two operators decide at once: the second one is not told that the decision was its own.
    let pid = desk.matching()["pid"].as_u64().unwrap().to_string();
    let signal = |name: &str| assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    let decides = |how: &'static str, who: &'static str| {
        desk.colo(&["venue", how, "2", "--why", "confirmed", "--who", who, "-i", &desk.name])
    };
    signal("-STOP");
    let (booked, settled) = std::thread::scope(|scope| {
        let booking = scope.spawn(|| decides("book", "ann"));
        desk.until("decision", || desk.decisions().contains("settle 2 book"));
        let settling = scope.spawn(|| decides("settle", "bob"));
        desk.until("other decision", || desk.decisions().contains("settle 2 apart"));
        signal("-CONT");
        (booking.join().unwrap(), settling.join().unwrap())
    });
    assert!(booked.status.success(), "{}", String::from_utf8_lossy(&booked.stderr));
    let said = String::from_utf8_lossy(&settled.stderr);
    assert!(settled.status.code() == Some(1) && said.contains("was booked first, by ann"), "{said}");
    desk.until("late fill", || desk.unbooked() == Some(0));
    let (code, text) = audit();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1 fills of orders that had ended"), "{text}");
    drop(desk);
    drop(over);
    acceptor.join().unwrap();
}
