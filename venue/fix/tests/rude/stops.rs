//! A stop ends all working orders, also where the market refuses cancels or a node hangs. After deaths it counts exactly the orders
//! that still work at the market.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

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

/// How the market takes cancels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cancels {
    Takes,
    /// It refuses the first one of each order that it has accepted.
    RefusesFirst,
    /// It does not answer.
    Ignores,
}

/// Takes every order, fills none, and is silent about each seventh.
fn market(mut rude: Rude, working: &Working, cancels: Cancels, is_over: &Receiver<()>) {
    let (mut number, mut refused) = (0, BTreeSet::new());
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
                "F" if cancels == Cancels::Ignores => {}
                "F" if cancels == Cancels::RefusesFirst
                    && rude.statuses.contains_key(&field(41))
                    && refused.insert(field(41)) =>
                {
                    rude.say("9", &format!("11={}|41={}|37=O1|39=0|434=1|102=2|", field(11), field(41)));
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

/// A market of its own thread.
struct Market {
    working: Working,
    over: Sender<()>,
    thread: JoinHandle<()>,
}

impl Market {
    fn begin(rude: Rude, cancels: Cancels) -> Market {
        let (working, (over, is_over)) = (Working::default(), channel());
        let seen = Arc::clone(&working);
        let thread = std::thread::spawn(move || market(rude, &seen, cancels, &is_over));
        Market { working, over, thread }
    }

    /// How many orders work.
    fn count(&self) -> u64 {
        self.working.lock().unwrap().len() as u64
    }

    fn end(self) {
        drop(self.over);
        self.thread.join().unwrap();
    }
}

/// Takes the platform down: exit code, report, and the orders at the market that it counts.
fn down(desk: &Desk) -> (Option<i32>, Value, u64) {
    let down = desk.colo(&["down", &desk.name, "--format", "json"]);
    let report: Value = serde_json::from_slice(&down.stdout).unwrap();
    let rows = report["unfinished"].as_array().unwrap().iter().filter(|row| row["work"] == "end");
    let found = rows.map(|row| row["count"].as_u64().unwrap()).sum();
    (down.status.code(), report, found)
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
        let market = Market::begin(rude, Cancels::Takes);
        let count = || market.count();
        desk.up(&["--set", "strategies.restart=never", "--set", "strategies.accounts=[7]"]);
        desk.until("orders", || count() > 9);
        let strategy = pid(&desk, "noise-1");
        signal(&strategy, "-STOP");
        desk.until("the last orders", || open_orders(&desk) == Some(count()));
        // All ids first: successors begin when the first one dies.
        let pids: Vec<String> = deaths.iter().map(|node| pid(&desk, node)).collect();
        pids.iter().chain([&strategy]).for_each(|pid| signal(pid, "-KILL"));
        let (code, report, found) = down(&desk);
        let rows = report["unfinished"].as_array().unwrap().iter();
        let rows: Vec<&Value> = rows.filter(|row| row["work"] == "end").collect();
        // An order that was on its way at the deaths may have reached the market or not, so it is counted.
        let at_market = count();
        assert!((at_market..=at_market + 1).contains(&found), "{at_market}, {deaths:?}: {report:#}");
        assert!(rows.iter().all(|row| row["of"] == "noise-1" && row["node"] == "matching"), "{rows:?}");
        let is_whole = report["unfinished"].as_array().unwrap().is_empty();
        assert_eq!(code, Some(i32::from(!is_whole)), "{deaths:?}: {report:#}");
        counted += found;
        println!("{deaths:?}: {found} orders at the market");
        market.end();
    }
    assert!(counted > 0, "no death left an order at work");
}

/// What happens to nodes just before the stop, by signals.
const BLOWS: [&[(&str, &str)]; 6] = [
    &[],
    &[("noise-1", "-KILL")],
    &[("td", "-KILL")],
    &[("td", "-STOP")],
    &[("master", "-KILL")],
    &[("master", "-KILL"), ("noise-1", "-KILL")],
];

#[test]
fn a_stop_ends_every_order_although_the_market_refuses_cancels_and_td_hangs() {
    for (number, blows) in BLOWS.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let rude = Rude::listen();
        let Some(desk) = Desk::of(&rude, &format!("venue-ends-{number}"), folder.path()) else { return };
        let market = Market::begin(rude, Cancels::RefusesFirst);
        desk.up(&["--set", "strategies.restart=never", "--set", "strategies.accounts=[7]"]);
        desk.until("orders", || market.count() > 9);
        let pids: Vec<(String, &str)> = blows.iter().map(|(node, name)| (pid(&desk, node), *name)).collect();
        pids.iter().for_each(|(pid, name)| signal(pid, name));
        let (code, report, found) = down(&desk);
        assert_eq!((market.count(), found, code), (0, 0, Some(0)), "{blows:?}: {report:#}");
        market.end();
    }
}

#[test]
fn orders_of_which_the_market_answers_no_cancel_are_counted() {
    for (number, blows) in [&[][..], &[("td", "-STOP")]].iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let rude = Rude::listen();
        let Some(desk) = Desk::of(&rude, &format!("venue-ignores-{number}"), folder.path()) else { return };
        let market = Market::begin(rude, Cancels::Ignores);
        let up = ["--set", "strategies.restart=never", "--set", "strategies.accounts=[7]"];
        desk.up(&[&up[..], &["--set", "master.stop_timeout=1s"]].concat());
        desk.until("orders", || market.count() > 9);
        blows.iter().for_each(|(node, name)| signal(&pid(&desk, node), name));
        let (code, report, found) = down(&desk);
        assert!(market.count() > 9);
        assert_eq!((found, code), (market.count(), Some(1)), "{blows:?}: {report:#}");
        market.end();
    }
}
