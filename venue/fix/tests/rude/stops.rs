//! Deaths before a stop: it counts the orders that still work at the market, and no others.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::platform::Desk;
use crate::support::Rude;

/// Names of the orders that work at the market.
type Working = Arc<Mutex<BTreeSet<String>>>;

/// Which nodes die, in this order; the strategy dies last. Where master lives, successors cancel every order.
const DEATHS: [&[&str]; 8] = [
    &[],
    &["matching"],
    &["td", "matching"],
    &["master"],
    &["master", "matching"],
    &["matching", "master"],
    &["master", "td"],
    &["master", "td", "matching", "ledger"],
];

/// Takes every order, fills none, and is silent about each seventh.
fn market(mut rude: Rude, working: &Working, is_over: &Receiver<()>) {
    let mut number = 0;
    while is_over.try_recv() == Err(TryRecvError::Empty) {
        rude.read();
        while let Some(message) = rude.heard.pop_front() {
            number += 1;
            let field = |tag| message.get(tag).unwrap_or_default().to_owned();
            let terms = format!("37=O1|17=n{number}|55={}|54={}|38={}|", field(55), field(54), field(38));
            match message.kind() {
                "D" => {
                    working.lock().unwrap().insert(field(11));
                    if !working.lock().unwrap().len().is_multiple_of(7) {
                        rude.say(
                            "8",
                            &format!("11={}|{terms}150=0|39=0|14=0|151={}|6=0|", field(11), field(38)),
                        );
                        rude.statuses
                            .insert(field(11), format!("39=0|14=0|55={}|54={}|", field(55), field(54)));
                    }
                }
                "F" => {
                    working.lock().unwrap().remove(&field(41));
                    rude.say(
                        "8",
                        &format!("11={}|41={}|{terms}150=4|39=4|14=0|151=0|6=0|", field(11), field(41)),
                    );
                    rude.statuses.insert(field(41), format!("39=4|14=0|55={}|54={}|", field(55), field(54)));
                }
                _ => {}
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn pid(desk: &Desk, name: &str) -> String {
    let status = desk.json(&["status", &desk.name]);
    let nodes = status["nodes"].as_array().expect("nodes").clone();
    let node = nodes.iter().find(|node| node["node"] == name).expect("the node");
    node["pid"].as_u64().expect("a process").to_string()
}

fn signal(pid: &str, name: &str) {
    assert!(Command::new("kill").args([name, pid]).status().unwrap().success(), "{name} {pid}");
}

/// Orders without an end in the accounts.
fn open_orders(desk: &Desk) -> Option<u64> {
    desk.json(&["account", "show", "7", "-i", &desk.name])["open_orders"].as_u64()
}

#[test]
fn a_stop_behind_deaths_counts_the_orders_that_still_work_at_the_market() {
    let mut counted = 0;
    for (number, deaths) in DEATHS.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let rude = Rude::listen();
        let name = format!("venue-stop-{number}");
        let Some(desk) = Desk::of(&rude, &name, folder.path()) else { return };
        let (working, (over, is_over)) = (Working::default(), channel::<()>());
        let acceptor = {
            let working = Arc::clone(&working);
            std::thread::spawn(move || market(rude, &working, &is_over))
        };
        let count = || working.lock().unwrap().len() as u64;
        desk.up(&["--set", "strategies.restart=never", "--set", "strategies.accounts=[7]"]);
        desk.until("orders", || count() > 9);
        let strategy = pid(&desk, "noise-1");
        signal(&strategy, "-STOP");
        desk.until("the last orders", || open_orders(&desk) == Some(count()));
        // All ids first: successors begin when the first one dies.
        let pids: Vec<String> = deaths.iter().map(|node| pid(&desk, node)).collect();
        pids.iter().chain([&strategy]).for_each(|pid| signal(pid, "-KILL"));
        let down = desk.colo(&["down", &desk.name, "--format", "json"]);
        let report: Value = serde_json::from_slice(&down.stdout).unwrap();
        let rows = report["unfinished"].as_array().unwrap().iter();
        let rows: Vec<&Value> = rows.filter(|row| row["work"] == "end").collect();
        let found: u64 = rows.iter().map(|row| row["count"].as_u64().unwrap()).sum();
        assert_eq!(found, count(), "{deaths:?}: {report:#}");
        assert!(rows.iter().all(|row| row["of"] == "noise-1" && row["node"] == "matching"), "{rows:?}");
        let is_whole = report["unfinished"].as_array().unwrap().is_empty();
        assert_eq!(down.status.code(), Some(i32::from(!is_whole)), "{deaths:?}: {report:#}");
        counted += found;
        println!("{deaths:?}: {found} orders at the market");
        drop(over);
        acceptor.join().unwrap();
    }
    assert!(counted > 0, "no death left an order at work");
}
