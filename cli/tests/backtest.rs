//! Lock-step in one process: what it gives is what lock-step over processes gives, frame by frame.

mod home;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use home::{Home, number, stderr, stdout};

/// Makers and takers, alone and in a host, and everything recorded.
const PLATFORM: &str = r#"
[platform]
instance = "twice"
deterministic = true

MARKET

[td]
price_band = 0

[journal]
capacity = "4MiB"

[[strategies.group]]
name = "takers"
program = "builtin:taker"
count = 2
instruments = "all"
params = { max_position = 50 }

[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 2
instruments = "all"
params = { skew_ticks = 1000000 }

[[strategies.group]]
name = "hosted"
program = "builtin:taker"
count = 3
instruments = "all"
host = { name = "desk" }
params = { max_position = 20 }

[[recorder]]
name = "recorder"
loose = ["all"]     # nobody waits for the disk
path = "FOLDER"
"#;

const SIMULATED: &str = r#"
[md]
source = "sim"
instruments = 4
interval = "1ms"
count = 80
seed = 11
generator = "timed"
readers = "gated"
"#;

const RECORDED: &str = r#"
[md]
source = "lobster"
files = "FILE"
readers = "gated"

[matching]
fill = "book"
"#;

/// A book that moves.
fn day(moves: u32) -> String {
    let mut day = String::from("34200.000,1,1,100,999000,1\n34200.100,1,2,100,1001000,-1\n");
    let mut ask = 2;
    for number in 0..moves {
        let (second, id) = (34_201 + number, 3 * number + 3);
        day += &format!("{second}.0,3,{ask},100,1001000,-1\n{second}.1,1,{id},100,1003000,-1\n");
        day += &format!("{second}.2,1,{},100,1001000,1\n{second}.3,4,{},40,1001000,1\n", id + 1, id + 1);
        day += &format!("{second}.35,3,{},60,1001000,1\n", id + 1);
        ask = id + 2;
        day += &format!("{second}.4,1,{ask},100,1001000,-1\n{second}.5,3,{id},100,1003000,-1\n");
    }
    day
}

/// Journals whose frames must be the same.
const SAME: &[&str] = &[
    "md.instruments",
    "orders.takers-1",
    "orders.takers-2",
    "orders.makers-1",
    "orders.makers-2",
    "orders.hosted-1",
    "orders.hosted-3",
    "td.orders",
    "matching.executions",
    "reports.takers-1",
    "reports.makers-2",
    "reports.desk",
];

/// What the stop causes, in any order: processes that are asked to end cancel their orders in the order in which they happen
/// to run. `None`: there is something else among it.
fn at_the_end(frames: &[Value]) -> Option<Vec<String>> {
    let places = ["position", "source", "execution", "answered_up_to", "reported_up_to"];
    let name = |frame: &Value| frame["message"].as_str().map(str::to_owned).unwrap_or_default();
    if !frames.iter().all(|frame| ["CancelOrder", "OrderUpdate"].contains(&name(frame).as_str())) {
        return None;
    }
    let mut rest: Vec<String> =
        frames.iter().map(|frame| without(frame.clone(), &places).to_string()).collect();
    rest.sort();
    Some(rest)
}

/// The first difference between the journals of two runs.
fn difference(processes: &Run, one: &Run) -> Option<String> {
    SAME.iter().find_map(|name| {
        let (processes, one) = (&processes.journals[name], &one.journals[name]);
        assert!(!processes.is_empty(), "{name} is empty");
        let same = processes.iter().zip(one).take_while(|(this, that)| this == that).count();
        let (rest, other) = (at_the_end(&processes[same..]), at_the_end(&one[same..]));
        (rest.is_none() || rest != other).then(|| {
            let (frames, others) = (processes.len(), one.len());
            let (frame, other) = (processes.get(same), one.get(same));
            format!("{name}: frame {same} of {frames} over processes is {frame:?}, and of {others} in one {other:?}")
        })
    })
}

struct Run {
    report: Value,
    journals: BTreeMap<&'static str, Vec<Value>>,
}

fn run(home: &Home, market: &str, one_process: bool) -> Run {
    let folder = home.state_path().join(format!("recorded-{one_process}"));
    let text = PLATFORM.replace("MARKET", market).replace("FOLDER", &folder.display().to_string());
    let file = written(home, "twice.toml", &text);
    let set = format!("platform.one_process={one_process}");
    let up = home.colo(&["up", &file, "--set", &set, "--format", "json"]);
    assert!(up.status.success(), "{}\n{}\n{}", stderr(&up), stdout(&up), home.logs());
    assert_eq!(home.left(), Vec::<PathBuf>::new());
    let report = serde_json::from_str(&stdout(&up)).expect("a report");
    let journals = SAME.iter().map(|name| (*name, frames(home, &folder, name)));
    Run { report, journals: journals.collect() }
}

fn written(home: &Home, name: &str, text: &str) -> String {
    let path = home.state_path().join(name);
    std::fs::write(&path, text).expect("a file");
    path.display().to_string()
}

/// Without the times of this run.
fn frames(home: &Home, folder: &Path, journal: &str) -> Vec<Value> {
    let folder = folder.display().to_string();
    let dump = home.colo(&["journal", "dump", journal, "--recording", &folder, "--format", "json"]);
    assert!(dump.status.success(), "{journal}: {}", stderr(&dump));
    stdout(&dump).lines().map(|line| timeless(serde_json::from_str(line).expect("a frame"))).collect()
}

fn timeless(value: Value) -> Value {
    without(value, &["time_ns", "published_ns", "received_ns"])
}

fn without(mut value: Value, names: &[&str]) -> Value {
    let mut left = vec![&mut value];
    while let Some(value) = left.pop() {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| !names.contains(&name.as_str()));
                left.extend(fields.values_mut());
            }
            Value::Array(items) => left.extend(items.iter_mut()),
            _ => {}
        }
    }
    value
}

/// A report without what time, memory and the host make of it: of the stages only counts stay.
fn repeatable(mut report: Value) -> Value {
    let fields = report.as_object_mut().expect("a report");
    for name in ["host", "seconds", "memory", "caveats", "wait_timeouts_with_data"] {
        assert!(fields.remove(name).is_some(), "no `{name}` in the report");
    }
    // A wait that ends just when a message comes: processes have some, one thread has none.
    for node in fields["nodes"].as_array_mut().expect("nodes") {
        node.as_object_mut().expect("a node").remove("wait_timeouts_with_data");
    }
    for stage in fields["stages"].as_object_mut().expect("stages").values_mut() {
        *stage = stage["n"].clone();
    }
    report
}

/// A recorded day whose requests and reports take their time.
fn delayed(order: &str, report: &str, seed: u64) -> String {
    format!("{RECORDED}order_latency = {order}\nreport_latency = {report}\nlatency_seed = {seed}\n")
}

const DRAWN: &str = "{ lognormal = { median = \"60ms\", p99 = \"400ms\" } }";
const NONE: &str = "{ uniform = { min = \"0s\", max = \"0s\" } }";

fn holds(market: &str, least_fills: u64) {
    let home = Home::new();
    let market = market.replace("FILE", &written(&home, "message.csv", &day(80)));
    let one = run(&home, &market, true);
    assert_eq!(difference(&run(&home, &market, true), &one), None, "one process repeats itself");
    let processes = run(&home, &market, false);
    assert_eq!(difference(&processes, &one), None);
    let fills = number(&processes.report["fills"]);
    assert!(fills >= least_fills, "{fills} fills");
    assert_eq!(repeatable(processes.report), repeatable(one.report));
}

#[test]
fn a_simulated_market_gives_the_same_frames_in_one_process_as_over_many() {
    holds(SIMULATED, 200);
}

#[test]
fn a_recorded_day_gives_the_same_frames_in_one_process_as_over_many() {
    holds(RECORDED, 100);
}

#[test]
fn with_delays_that_are_drawn_one_process_gives_the_same_frames_as_many() {
    holds(&delayed(DRAWN, "\"30ms\"", 7), 20);
}

#[test]
fn delays_of_zero_give_what_none_do_and_each_seed_its_own_fills() {
    let home = Home::new();
    let fills = |market: &str| {
        let market = market.replace("FILE", &written(&home, "message.csv", &day(80)));
        run(&home, &market, true).journals.remove("matching.executions").expect("executions")
    };
    let without = fills(RECORDED);
    assert!(without.len() > 200, "{}", without.len());
    assert!(without == fills(&delayed(NONE, NONE, 1)), "a delay of zero is none");
    let first = fills(&delayed(DRAWN, DRAWN, 1));
    assert!(first != without && first == fills(&delayed(DRAWN, DRAWN, 1)), "the same seed repeats");
    assert!(first != fills(&delayed(DRAWN, DRAWN, 2)), "another seed draws others");
}

/// The rows of a table, by column.
fn table(folder: &Path, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(folder.join(name)).expect("a table");
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let head: Vec<String> = lines.next().expect("a head").collect();
    lines.map(|cells| head.iter().cloned().zip(cells).collect()).collect()
}

#[test]
fn a_delay_that_is_put_in_is_found_in_orders_and_fills() {
    let home = Home::new();
    let day = written(&home, "message.csv", &day(80));
    let market = delayed("\"150ms\"", "\"30ms\"", 1).replace("FILE", &day);
    let recording = home.state_path().join("recorded");
    let text = PLATFORM.replace("MARKET", &market).replace("FOLDER", &recording.display().to_string());
    let file = written(&home, "delayed.toml", &text);
    let folder = home.state_path().join("run");
    let up = home.colo(&["up", &file, "--out", &folder.display().to_string()]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let models = "queue = \"position\", order_latency = \"150ms\", report_latency = \"30ms\"";
    assert!(stdout(&up).contains(models), "{}", stdout(&up));
    let shown = home.colo(&["runs", "show", &folder.display().to_string()]);
    assert!(stdout(&shown).contains(models), "{}", stdout(&shown));

    let orders = table(&folder, "orders.csv");
    let sent: BTreeMap<&str, u64> =
        orders.iter().map(|row| (row["order_id"].as_str(), row["sent_ns"].parse().expect("sent"))).collect();
    let accepted: Vec<&BTreeMap<String, String>> =
        orders.iter().filter(|row| !row["accepted_ns"].is_empty()).collect();
    assert!(accepted.len() > 100, "{} orders were accepted", accepted.len());
    for row in &accepted {
        let accepted: u64 = row["accepted_ns"].parse().expect("accepted");
        assert_eq!(accepted, sent[row["order_id"].as_str()] + 150_000_000, "{row:?}");
    }
    let fills = table(&folder, "fills.csv");
    assert!(!fills.is_empty());
    for row in &fills {
        let time: u64 = row["time_ns"].parse().expect("a time");
        assert!(time >= sent[row["order_id"].as_str()] + 150_000_000, "{row:?}");
    }
    for row in orders.iter().filter(|row| row["reason"] == "would-trade") {
        let ended: u64 = row["ended_ns"].parse().expect("ended");
        assert_eq!(ended, sent[row["order_id"].as_str()] + 150_000_000, "{row:?}");
    }
    let refused = orders.iter().filter(|row| row["reason"] == "market-closed").count();
    assert!(refused > 0, "the last orders had not arrived when the data ended");
    assert_eq!(reports_before_their_time(&home, &recording, 30_000_000), (0, 0));
}

/// What was written earlier than `delay` after it happened, and later than the first market event behind that. One thread
/// stamps all frames, so their times say what came first.
fn reports_before_their_time(home: &Home, recording: &Path, delay: u64) -> (usize, usize) {
    let dump = |journal: &str| -> Vec<Value> {
        let folder = recording.display().to_string();
        let dump = home.colo(&["journal", "dump", journal, "--recording", &folder, "--format", "json"]);
        assert!(dump.status.success(), "{}", stderr(&dump));
        stdout(&dump).lines().map(|line| serde_json::from_str(line).expect("a frame")).collect()
    };
    let found =
        |frame: &Value, name: &str| find(frame, name).unwrap_or_else(|| panic!("no {name} in {frame}"));
    let flow = dump("md.flow");
    let end = found(flow.last().expect("the end"), "time_ns");
    let events: Vec<(u64, u64)> = flow
        .iter()
        .filter(|frame| find(frame, "event_time_ns").is_some())
        .map(|frame| (found(frame, "time_ns"), found(frame, "event_time_ns")))
        .collect();
    let (mut early, mut late, mut seen) = (0, 0, 0);
    for frame in dump("matching.executions") {
        let (written, happened) = (found(&frame, "time_ns"), find(&frame, "event_time_ns").unwrap_or(0));
        if happened == 0 || written >= end {
            continue;
        }
        seen += 1;
        let passed: Vec<u64> = events.iter().filter(|(at, _)| *at < written).map(|(_, time)| *time).collect();
        let (now, before) =
            (passed.iter().max().copied().unwrap_or(0), passed[..passed.len() - 1].iter().max());
        early += usize::from(now < happened + delay);
        late += usize::from(before.is_some_and(|before| *before >= happened + delay && *before < now));
    }
    assert!(seen > 100, "{seen} executions");
    (early, late)
}

/// A number anywhere in a frame.
fn find(value: &Value, name: &str) -> Option<u64> {
    match value {
        Value::Object(fields) => match fields.get(name) {
            Some(found) => found.as_u64().or_else(|| found.as_str()?.parse().ok()),
            None => fields.values().find_map(|field| find(field, name)),
        },
        Value::Array(items) => items.iter().find_map(|item| find(item, name)),
        _ => None,
    }
}
