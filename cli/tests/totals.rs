//! Totals of `status` and `down` are those of the journals, however often the processes behind them were killed.

mod home;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use journal::{Journal, JournalFiles};
use serde_json::Value;
use wire::{AnyMessage, OrderStatus};

use home::{Home, kill, number, stderr};

/// Rings that never go round, so that the journals can be counted from their first frame on.
const CONFIG: &str = r#"
[platform]
instance = "totals"

[md]
source = "sim"
instruments = 4
interval = "2ms"
count = 1500
seed = 7
generator = "timed"
restart = "on-failure"
restart_max = 1000000
restart_backoff = "0s"

[td]
restart_max = 1000000
restart_backoff = "0s"

[matching]
restart_max = 1000000
restart_backoff = "0s"

[ledger]
restart_max = 1000000
restart_backoff = "0s"

[journal]
md.quotes.capacity = "16MiB"
td.orders.capacity = "16MiB"
td.samples.capacity = "16MiB"
matching.capacity = "16MiB"
orders.capacity = "16MiB"
reports.capacity = "16MiB"
ledger.capacity = "1MiB"

[strategies]
restart = "on-failure"
restart_max = 1000000
restart_backoff = "0s"

[[strategies.group]]
name = "takers"
program = "builtin:taker"
count = 2
params = { max_position = 1000000 }

[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 1
instruments = "all"
params = { max_age_ms = 20, refresh_ms = 5 }

[[strategies.group]]
name = "hosted"
program = "builtin:market-maker"
count = 2
instruments = "all"
params = { max_age_ms = 20, refresh_ms = 5 }
host = { mode = "parked" }
"#;

const NAMES: [&str; 10] = [
    "quotes",
    "trades",
    "book_events",
    "orders",
    "rejected",
    "cancels",
    "cancels_rejected",
    "replaces",
    "replaces_rejected",
    "fills",
];

/// What the journals hold, by name; refusals and fills of each strategy by its number.
#[derive(Debug, Default)]
struct Held {
    totals: BTreeMap<&'static str, u64>,
    told: BTreeMap<u16, [u64; 4]>,
    /// Of orders that answer a quote.
    samples: u64,
}

impl Held {
    fn count(home: &Home) -> Held {
        let mut held = Held::default();
        NAMES.into_iter().for_each(|name| _ = held.totals.insert(name, 0));
        let folder = home.root.path().join("totals/journals");
        for entry in std::fs::read_dir(&folder).expect("the journals").flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "ctl") {
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                held.journal(&Journal::open_read_only(JournalFiles::new(&folder, &folder, &name)).unwrap());
            }
        }
        held
    }

    fn journal(&mut self, journal: &Journal) {
        let name = journal.shape().name.clone();
        let (asks, executions) = (name.starts_with("orders."), name == "matching.executions");
        let (md, reports) = (name.starts_with("md."), name.starts_with("reports."));
        if !(asks || executions || md || reports || name == "td.samples") {
            return;
        }
        let mut reader = journal.loose_from_start().unwrap();
        while let Some(frame) = reader.read().unwrap_or_else(|error| panic!("{name}: {error}")) {
            use AnyMessage as M;
            let message = M::decode(frame.message_id, frame.payload).unwrap();
            let counted = match message {
                M::Quote(_) => "quotes",
                M::TradePrint(_) => "trades",
                M::BookEvent(_) => "book_events",
                M::NewOrder(_) => "orders",
                M::CancelOrder(_) => "cancels",
                M::ReplaceOrder(_) => "replaces",
                M::LatencySample(_) => {
                    self.samples += 1;
                    continue;
                }
                M::Fill(_) if executions => "fills",
                M::Fill(fill) => {
                    self.told.entry(fill.order_id.strategy().0).or_default()[3] += 1;
                    continue;
                }
                M::OrderUpdate(update) if reports => {
                    let (place, counted) = match update.status {
                        OrderStatus::Rejected => (0, "rejected"),
                        OrderStatus::CancelRejected => (1, "cancels_rejected"),
                        OrderStatus::ReplaceRejected => (2, "replaces_rejected"),
                        _ => continue,
                    };
                    self.told.entry(update.order_id.strategy().0).or_default()[place] += 1;
                    counted
                }
                _ => continue,
            };
            *self.totals.get_mut(counted).unwrap() += 1;
        }
    }

    fn assert_are(&self, totals: &Value) {
        for name in NAMES {
            assert_eq!(number(&totals[name]), self.totals[name], "{name} in {totals}\n{:?}", self.totals);
        }
    }
}

fn md_is_done(home: &Home) -> bool {
    ["finished", "stopped"].iter().any(|state| home.node("totals", "md")["state"] == *state)
}

const STRATEGIES: [&str; 4] = ["takers-1", "takers-2", "makers-1", "host"];

fn pid(home: &Home, name: &str) -> u32 {
    u32::try_from(number(&home.node("totals", name)["pid"])).unwrap()
}

/// Waits until nothing more is written: strategies ask by their timers too, so they are stopped.
fn settle(home: &Home) {
    home.wait_for("the end of the source", || md_is_done(home));
    let runs = |name: &&str| home.node("totals", name)["state"] == "running";
    home.wait_for("all of the nodes", || STRATEGIES.iter().chain(&["td", "matching"]).all(runs));
    std::thread::sleep(Duration::from_millis(500));
    STRATEGIES.iter().for_each(|name| kill(pid(home, name), "STOP"));
    home.wait_for("silence", || {
        let totals = || home.json(&["status", "totals", "--format", "json"])["totals"].clone();
        let before = totals();
        std::thread::sleep(Duration::from_millis(500));
        before == totals()
    });
}

#[test]
fn totals_of_status_and_down_are_what_the_journals_hold_after_kills_of_every_node() {
    let home = Home::new();
    let file = home.root.path().with_extension("toml");
    std::fs::write(&file, CONFIG).expect("the platform's file");
    let path = file.display().to_string();
    let output = home.colo(&["up", &path, "--stay"]);
    assert!(output.status.success(), "{}\n{}", stderr(&output), home.logs());

    let victims = ["takers-1", "td", "host", "matching", "makers-1", "td", "ledger", "md", "takers-2"];
    let (mut kills, mut kills_of_td) = (0, 0);
    let begin = Instant::now();
    for name in victims.iter().cycle() {
        if begin.elapsed() > Duration::from_secs(20) || md_is_done(&home) {
            break;
        }
        let node = home.node("totals", name);
        if node["state"] == "running" {
            kill(u32::try_from(number(&node["pid"])).unwrap(), "KILL");
            kills += 1;
            kills_of_td += u64::from(*name == "td");
        }
    }
    assert!(kills > 5, "{kills} kills");
    settle(&home);

    let held = Held::count(&home);
    println!("{kills} kills; {:?}", held.totals);
    assert!(held.totals["fills"] > 0 && held.totals["cancels"] > 0, "{:?}", held.totals);
    let status = home.json(&["status", "totals", "--format", "json"]);
    held.assert_are(&status["totals"]);

    // Strategies that do not stop when they are asked to are killed, and say nothing more.
    let report = home.json(&["down", "totals", "--format", "json"]);
    let _ = std::fs::remove_file(&file);
    held.assert_are(&report);
    // A td that is killed between the two has told the one and not the other.
    let measured = number(&report["stages"]["t2o"]["n"]);
    assert!(measured > 0 && held.samples.abs_diff(measured) <= kills_of_td, "{measured} of {}", held.samples);
    for strategy in report["strategies"].as_array().expect("strategies") {
        let seat =
            report["nodes"].as_array().unwrap().iter().position(|node| node["name"] == strategy["name"]);
        let told = held.told.get(&u16::try_from(seat.unwrap()).unwrap()).copied().unwrap_or_default();
        let names = ["rejected", "cancels_rejected", "replaces_rejected", "fills"];
        assert_eq!(names.map(|name| number(&strategy[name])), told, "{strategy}");
    }
}

/// Two strategies that answer quotes and do nothing else, and the smallest ring of samples: 1,024 of them.
const TAKERS: &str = r#"
[platform]
instance = "totals"

[md]
source = "sim"
instruments = 4
interval = "1ms"
count = 2000
seed = 7
generator = "timed"

[journal]
td.samples.capacity = "64KiB"

[[strategies.group]]
name = "takers"
program = "builtin:taker"
count = 2
instruments = "all"
params = { max_position = 1000000 }
"#;

#[test]
fn the_times_of_all_orders_are_there_when_nobody_looked_on_and_their_journal_went_round() {
    let home = Home::new();
    let file = home.root.path().with_extension("toml");
    std::fs::write(&file, TAKERS).expect("the platform's file");
    let output = home.colo(&["up", &file.display().to_string(), "--stay"]);
    assert!(output.status.success(), "{}\n{}", stderr(&output), home.logs());
    home.wait_for("the end of the source", || md_is_done(&home));
    std::thread::sleep(Duration::from_millis(300));
    let status = home.json(&["status", "totals", "--format", "json"]);
    let report = home.json(&["down", "totals", "--format", "json"]);
    let _ = std::fs::remove_file(&file);
    let orders = number(&report["orders"]);
    assert!(orders > 2_000, "{report}");
    for json in [&status, &report] {
        for stage in ["md", "strategy", "order", "t2o"] {
            assert_eq!(number(&json["stages"][stage]["n"]), orders, "{stage} in {json}");
        }
    }
    assert_eq!((number(&report["lost"]), &report["lost_by"]), (0, &Value::Array(Vec::new())), "{report}");
}
