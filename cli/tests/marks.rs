//! The marks that accounts are measured by are prices of the market as it is, also behind a death of the ledger.

mod home;

use std::time::Duration;

use serde_json::Value;

use home::{Home, kill, number, stderr};

const PLATFORM: &str = r#"
[platform]
instance = "marks"

[md]
source = "sim"
instruments = 4
interval = "2ms"
count = 0
seed = 3
generator = "timed"

[journal]
md.quotes.capacity = "64MiB"
ledger.risk.capacity = "8MiB"

[ledger]
restart_max = 1000000
restart_backoff = "0s"

[desk]
mark_every = "20ms"

[[desk.margins]]
long = "0.1"
short = "0.1"

[[accounts]]
number = 7
kind = "margin"
deposit = 1000000000

[strategies]
program = "builtin:taker"
count = 2
accounts = [7]
instruments = "all"
params = { max_position = 50 }
"#;

/// The prices that an instrument had within this time before its mark.
const RECENT_NS: u64 = 1_500_000_000;

fn dump(home: &Home, journal: &str, message: &str) -> Vec<Value> {
    let output = home.colo(&["journal", "dump", journal, "-i", "marks", "--format", "json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let frames = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object"));
    frames.filter(|frame| frame["message"] == message).collect()
}

fn price(value: &Value) -> Option<f64> {
    value.as_str().and_then(|text| text.parse().ok())
}

#[test]
fn a_ledger_that_is_started_again_marks_at_no_price_of_before() {
    let home = Home::new();
    let file = home.state_path().join("marks.toml");
    std::fs::write(&file, PLATFORM).expect("written");
    let up = home.colo(&["up", &file.display().to_string(), "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    home.wait_for("marks of each instrument", || {
        let marks = dump(&home, "ledger.risk", "Mark");
        (1..=4).all(|id| marks.iter().any(|mark| number(&mark["fields"]["instrument"]) == id))
    });
    for _ in 0..4 {
        // The market moves away from the oldest price that the ring holds.
        std::thread::sleep(Duration::from_millis(1_000));
        let pid = || number(&home.node("marks", "ledger")["pid"]);
        let before = pid();
        kill(u32::try_from(before).expect("a process"), "KILL");
        home.wait_for("the ledger", || pid() != before && home.node("marks", "ledger")["state"] == "running");
        let marks = dump(&home, "ledger.risk", "Mark").len();
        home.wait_for("a mark", || dump(&home, "ledger.risk", "Mark").len() > marks);
    }
    let (marks, quotes) = (dump(&home, "ledger.risk", "Mark"), dump(&home, "md.quotes", "Quote"));
    let down = home.colo(&["down", "marks"]);
    assert!(down.status.success(), "{}", stderr(&down));
    let mut looked_at = 0;
    for mark in &marks {
        let (time, instrument) = (number(&mark["time_ns"]), &mark["fields"]["instrument"]);
        let recent = quotes.iter().filter(|quote| {
            let at = number(&quote["time_ns"]);
            quote["fields"]["instrument"] == *instrument && at <= time && at + RECENT_NS >= time
        });
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        for quote in recent {
            low = low.min(price(&quote["fields"]["bid_price"]).unwrap_or(low));
            high = high.max(price(&quote["fields"]["ask_price"]).unwrap_or(high));
        }
        let at = price(&mark["fields"]["price"]).expect("a price");
        assert!((low..=high).contains(&at), "{mark} is not between {low} and {high}");
        looked_at += 1;
    }
    println!("{looked_at} marks over four deaths, {} quotes", quotes.len());
    assert!(looked_at > 20, "{looked_at} marks");
}
