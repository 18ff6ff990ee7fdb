//! `colo trace`: what a platform did, in Perfetto's format, against what `colo journal` says of it.

mod home;
#[path = "../../observe/tests/pftrace/mod.rs"]
mod pftrace;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use home::{Home, kill, number, stderr, stdout};
use pftrace::{Slice, Trace};

/// The demo, slow enough that its rings hold all of it for a while.
const SLOW: [&str; 4] = ["--set", "md.count=0", "--set", "md.interval=20ms"];

fn up(home: &Home) {
    let up = home.colo(&[&["up", "--stay"], SLOW.as_slice()].concat());
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    home.wait_for("fills", || number(&home.node("demo", "matching")["counters"]["fills"]) > 20);
}

fn down(home: &Home) {
    let down = home.colo(&["down"]);
    assert!(down.status.success(), "{}\n{}", stderr(&down), home.logs());
}

fn file(home: &Home, name: &str) -> String {
    home.state_path().join(name).display().to_string()
}

fn read(path: &str) -> Trace {
    Trace::read(&std::fs::read(path).expect("the trace"))
}

/// Statuses that end an order.
const ENDS: [&str; 3] = ["filled", "cancelled", "rejected"];

/// Orders, each with its slice.
fn orders(slices: &[Slice]) -> BTreeMap<String, &Slice> {
    let mut orders = BTreeMap::new();
    for slice in slices.iter().filter(|slice| slice.begin.category == "orders") {
        let id = slice.begin.arguments["order_id"].clone();
        assert!(orders.insert(id.clone(), slice).is_none(), "order {id} is there twice");
    }
    orders
}

/// Orders in a journal: of a recording, or of a ring.
fn sent(home: &Home, journal: &str, more: &[&str]) -> BTreeSet<String> {
    let dump = [&["journal", "dump", journal, "--kind", "NewOrder", "--format", "json"], more].concat();
    let output = home.colo(&dump);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let frames = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a frame"));
    frames.filter_map(|frame| Some(frame["fields"]["order_id"].as_str()?.to_owned())).collect()
}

/// The slices of an order against the hops of `colo journal trace`, to the nanosecond.
fn same_times(hops: &[Value], order: &Slice, slices: &[Slice]) -> usize {
    let first = |step: &str| {
        let hop = hops.iter().find(|hop| hop["hop"] == step && !hop["time_ns"].is_null())?;
        hop["time_ns"].as_u64()
    };
    let inside = |name: &str| {
        slices.iter().find(|slice| {
            slice.begin.track == order.begin.track
                && slice.begin.name == name
                && slice.begin.time >= order.begin.time
                && slice.end <= order.end
        })
    };
    let mut compared = 0;
    for (stage, from, to) in [
        ("md", "published", "received"),
        ("strategy", "received", "ordered"),
        ("order", "ordered", "taken"),
        ("td", "taken", "routed"),
        ("matching", "routed", "executed"),
        ("report", "executed", "reported"),
    ] {
        if let (Some(from), Some(to)) = (first(from), first(to)) {
            let slice = inside(stage).unwrap_or_else(|| panic!("no {stage} of {order:?}: {hops:?}"));
            assert_eq!((slice.begin.time, slice.end), (from, to), "{stage} of {}", order.begin.name);
            compared += 1;
        }
    }
    // An order ends with td's report of its end; a cancel that comes too late is answered behind it.
    let is_end = |hop: &&Value| {
        hop["hop"] == "reported" && ENDS.iter().any(|status| hop["fields"]["status"] == *status)
    };
    // Images of books repeat what was reported before.
    let shown = hops.iter().filter(|hop| hop["journal"] != "matching.state");
    let end = shown.clone().find(is_end).or_else(|| shown.max_by_key(|hop| hop["time_ns"].as_u64()));
    assert_eq!(Some(order.end), end.and_then(|hop| hop["time_ns"].as_u64()), "{order:?}: {hops:?}");
    compared
}

fn hops(home: &Home, order: &str, more: &[&str]) -> Vec<Value> {
    let trace = home.json(&[&["journal", "trace", order, "--format", "json"], more].concat());
    trace["hops"].as_array().expect("hops").clone()
}

#[test]
fn a_recorded_platform_is_exported_whole_and_its_times_are_those_of_the_journals() {
    let home = Home::new();
    let (platform, folder) = home.recorded_platform("");
    let up = home.colo(&[&["up", &platform, "--stay"], SLOW.as_slice()].concat());
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    home.wait_for("fills", || number(&home.node("demo", "matching")["counters"]["fills"]) > 50);
    let pids: BTreeMap<String, u64> = {
        let status = home.json(&["status", "demo", "--format", "json"]);
        let nodes = status["nodes"].as_array().expect("nodes").clone();
        nodes.iter().map(|node| (node["node"].as_str().unwrap().to_owned(), number(&node["pid"]))).collect()
    };
    down(&home);
    let out = file(&home, "whole.pftrace");
    let report = home.json(&["trace", "export", &folder, "--out", &out, "--format", "json"]);
    assert_eq!(
        (&report["ended"], &report["late"], &report["gaps"]),
        (&"complete".into(), &0.into(), &0.into()),
        "{report}"
    );
    let trace = read(&out);
    let slices = trace.slices();
    let (orders, flows) = (orders(&slices), trace.flows());
    let wanted = sent(&home, "td.orders", &["--recording", &folder]);
    let found: BTreeSet<String> = orders.keys().cloned().collect();
    // What td refused stands in its strategy's journal alone.
    assert!(wanted.len() > 20 && found.is_superset(&wanted), "{} of {}", found.len(), wanted.len());
    assert_eq!(report["orders"], found.len());
    assert!(flows.len() >= wanted.len(), "{} flows of {} orders", flows.len(), wanted.len());

    let mut compared = 0;
    for order in wanted.iter().step_by((wanted.len() / 5).max(1)) {
        compared += same_times(&hops(&home, order, &["--recording", &folder]), orders[order], &slices);
    }
    assert!(compared > 20, "{compared} stages");
    // From md over the strategy and td to matching, and back to td.
    let of_strategy = wanted.iter().map(|order| order.parse::<wire::OrderId>().unwrap());
    let ways: BTreeSet<Vec<&str>> = of_strategy
        .filter_map(|order| flows.get(&order.0))
        .map(|way| way.iter().map(|event| trace.tracks[&event.track].name.as_str()).take(4).collect())
        .collect();
    let is_whole =
        |way: &Vec<&str>| way[0] == "md" && way[1].starts_with("takers") && way[2..] == ["td", "matching"];
    assert!(ways.iter().any(is_whole), "{ways:?}");
    for node in ["md", "td", "matching", "takers-1"] {
        let track = trace.named(node).into_iter().find(|track| trace.tracks[track].tid.is_some());
        let track = track.unwrap_or_else(|| panic!("no thread of {node}"));
        assert_eq!(trace.tracks[&track].pid, Some(pids[node]), "{node}, as master has noted it");
    }
    // A part of it.
    let part = file(&home, "part.pftrace");
    let last =
        home.json(&["trace", "export", &folder, "--from", "-200ms", "--out", &part, "--format", "json"]);
    assert!(number(&last["frames"]) < number(&report["frames"]) && number(&last["frames"]) > 0, "{last}");
    read(&part).slices();
}

#[test]
fn a_running_platform_is_recorded_and_what_lies_in_its_rings_is_exported() {
    let home = Home::new();
    up(&home);
    let out = file(&home, "live.pftrace");
    let begun = home.json(&["trace", "record", "--out", &out, "--for", "1500ms", "--format", "json"]);
    assert_eq!((&begun["ended"], &begun["instance"]), (&"time".into(), &"demo".into()), "{begun}");
    let trace = read(&out);
    let slices = trace.slices();
    let (found, flows) = (orders(&slices), trace.flows());
    assert!(found.len() > 5 && !flows.is_empty(), "{} orders", found.len());
    assert_eq!(trace.primary_clock, 1);
    assert!(trace.clocks.contains_key(&3), "the kernel's monotonic clock beside ours");
    assert!(slices.iter().any(|slice| slice.begin.name == "asleep"), "somebody sleeps in a slow platform");
    // By time: the first were on their way when the recording began, and the last when it ended.
    let mut by_time: Vec<_> = found.iter().map(|(id, slice)| (slice.begin.time, id)).collect();
    by_time.sort_unstable();
    let middle = by_time[by_time.len() / 2].1.clone();
    assert!(same_times(&hops(&home, &middle, &[]), found[&middle], &slices) >= 4);

    let rings = file(&home, "rings.pftrace");
    let report = home.json(&["trace", "export", "demo", "--out", &rings, "--format", "json"]);
    assert_eq!(report["ended"], "complete", "{report}");
    down(&home);
    let trace = read(&rings);
    let slices = trace.slices();
    assert!(orders(&slices).contains_key(&middle), "it lies there still");
    trace.flows();
    assert!(!Path::new(&home.state_path().join(".rings.pftrace")).exists());
}

#[test]
fn the_rings_of_a_platform_that_was_killed_are_exported() {
    let home = Home::new();
    up(&home);
    let status = home.json(&["status", "demo", "--format", "json"]);
    // Master first, so that it starts nobody again.
    for node in status["nodes"].as_array().expect("nodes") {
        kill(u32::try_from(number(&node["pid"])).expect("a pid"), "KILL");
    }
    let out = file(&home, "dead.pftrace");
    let report = home.json(&["trace", "export", "demo", "--out", &out, "--format", "json"]);
    assert_eq!((&report["ended"], &report["gaps"]), (&"complete".into(), &0.into()), "{report}");
    let trace = read(&out);
    let slices = trace.slices();
    let found: BTreeSet<String> = orders(&slices).keys().cloned().collect();
    let wanted = sent(&home, "td.orders", &[]);
    assert!(!wanted.is_empty() && found.is_superset(&wanted), "{} of {}", found.len(), wanted.len());
    trace.flows();
}

#[test]
fn an_interrupted_recording_keeps_what_it_has_and_one_with_a_limit_ends_whole() {
    let home = Home::new();
    up(&home);
    let out = file(&home, "interrupted.pftrace");
    let arguments = ["trace", "record", "demo", "--out", &out, "--for", "1h", "--format", "json"];
    let child = home.command(&arguments).spawn().expect("colo starts");
    let pid = child.id();
    let folder = home.state_path().to_owned();
    let is_begun = || {
        let names = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        names.into_iter().any(|entry| entry.file_name().to_string_lossy().ends_with(".part"))
    };
    home.wait_for("the recording", is_begun);
    std::thread::sleep(Duration::from_millis(800));
    assert!(!Path::new(&out).exists(), "it has its name when it is whole");
    kill(pid, "INT");
    let output = child.wait_with_output().expect("its output");
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(report["ended"], "interrupted");
    let trace = read(&out);
    assert!(!trace.slices().is_empty());
    assert!(!is_begun(), "nothing else is left");

    let small = file(&home, "small.pftrace");
    let limits = [
        "trace",
        "record",
        "demo",
        "--out",
        &small,
        "--for",
        "1h",
        "--max-bytes",
        "64KiB",
        "--format",
        "json",
    ];
    let report = home.json(&limits);
    assert_eq!((&report["ended"], &report["is_full"]), (&"max-bytes".into(), &true.into()), "{report}");
    assert!(number(&report["bytes"]) <= 64 << 10);
    read(&small).slices();
    down(&home);
}

#[test]
fn what_cannot_be_traced_is_said_with_the_exit_code_of_its_kind() {
    let home = Home::new();
    let out = file(&home, "none.pftrace");
    let ends = |arguments: &[&str]| {
        let output = home.colo(arguments);
        (output.status.code(), stderr(&output))
    };
    assert_eq!(ends(&["trace", "record", "--out", &out]).0, Some(69));
    assert_eq!(ends(&["trace", "export", "nobody", "--out", &out]).0, Some(69));
    let (code, said) = ends(&["trace", "export", "./no/such/folder", "--out", &out]);
    assert!(code == Some(1) && said.contains("no/such/folder"), "{code:?}: {said}");
    let (code, said) = ends(&["trace", "export", "one", "two", "--out", &out]);
    assert!(code == Some(2) && said.contains("one platform"), "{code:?}: {said}");
    assert!(!Path::new(&out).exists());
}

/// Perfetto's own description of its format, as its package for Python has it: what it does not know is in none of our packets.
#[test]
fn perfettos_own_schema_knows_every_field() {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/perfetto");
    let place = std::env::var_os("COLO_PERFETTO").map_or_else(beside, std::path::PathBuf::from);
    let python = place.join("bin/python");
    if !python.exists() {
        println!("skipped: there is no {}; CONTRIBUTING.md says how to get it", python.display());
        return;
    }
    let home = Home::new();
    up(&home);
    let out = file(&home, "schema.pftrace");
    let report = home.json(&["trace", "record", "demo", "--out", &out, "--for", "1s", "--format", "json"]);
    down(&home);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pftrace_schema.py");
    let output = Command::new(&python).args([script, &out]).output().expect("python runs");
    assert!(output.status.success(), "{}\n{}", stdout(&output), stderr(&output));
    let seen: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    for name in ["packets", "slices", "instants"] {
        assert_eq!(seen[name], report[name], "{name}: {seen} and {report}");
    }
    println!("{seen}");
}
