//! `colo t2o` when a part stands still or cannot keep up: what has no answer must be counted, and be seen.

mod home;

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use bench_harness::t2o::{Stamps, read_raw};
use serde_json::Value;

use home::{Home, kill, number, stderr, stdout};

const SCENARIO: &str = r#"
[scenario]
name = "open"
[run]
repeats = 1
strategies = 4
instruments = 4
stagger = "0s"
warmup = "200ms"
samples = 1_000_000
shortest = "3s"
longest = "3s"
[[load]]
rate = 400
[[group]]
name = "A"
"#;

/// Ends with its test, with all that it started.
struct Running(Option<Child>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The process of a node, once it is there.
fn process_of(home: &Home, node: &str) -> u32 {
    let found = || {
        let registry = home.root.path().join("open-a1/registry");
        let registry = journal::Registry::open_read_only(&registry).ok()?;
        let seat = (0..registry.seats()).find(|seat| registry.name(*seat) == node)?;
        Some(registry.seat(seat)?.process().pid).filter(|pid| *pid > 0)
    };
    home.wait_for(&format!("{node}'s process"), || found().is_some());
    found().expect("it was there")
}

/// Runs the scenario; a second after the quotes begin, `disturb` gets the node's process.
fn run(home: &Home, folder: &Path, node: &str, disturb: impl FnOnce(u32)) -> Value {
    let file = folder.join("open.toml");
    std::fs::write(&file, SCENARIO).expect("written");
    let (file, out) = (file.display().to_string(), folder.join("out").display().to_string());
    let arguments = ["t2o", "run", &file, "--out", &out, "--format", "json"];
    let mut running = Running(Some(home.command(&arguments).spawn().expect("colo starts")));
    let pid = process_of(home, node);
    let quotes = || {
        let status = home.colo(&["status", "open-a1", "--format", "json"]);
        let status: Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
        let nodes = status["nodes"].as_array().cloned().unwrap_or_default();
        let md = nodes.into_iter().find(|node| node["node"] == "md");
        md.and_then(|md| md["counters"]["quotes"].as_u64()).unwrap_or(0)
    };
    home.wait_for("quotes of the measured stretch", || quotes() > 500);
    disturb(pid);
    let output = running.0.take().expect("it runs").wait_with_output().expect("its output");
    serde_json::from_str::<Value>(&stdout(&output))
        .unwrap_or_else(|error| panic!("{error}\n{}", stderr(&output)))["cells"][0]
        .clone()
}

/// What the cell says must be what its raw file says, and the quotes of a schedule are as many as its rate.
fn check(cell: &Value, folder: &Path) -> Vec<Stamps> {
    let raw = read_raw(&folder.join("out/raw/A1-1.csv.gz")).expect("raw");
    let open = raw.iter().filter(|record| record.is_open()).count() as u64;
    let (expected, samples, lost) =
        (number(&cell["expected"]), number(&cell["samples"]), number(&cell["lost"]));
    assert_eq!((lost, expected), (open, samples + number(&cell["runs"][0]["disordered"]) + lost), "{cell}");
    let due = 400.0 * cell["runs"][0]["seconds"].as_f64().expect("seconds");
    assert!((expected as f64 - due).abs() <= 1.0, "{expected} of {due}");
    raw
}

fn marks(cell: &Value) -> String {
    cell["marked"].to_string()
}

#[test]
fn a_strategy_that_stops_near_the_end_is_counted_and_marks_the_cell() {
    let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
    let cell = run(&home, folder.path(), "strategy-2", |pid| kill(pid, "STOP"));
    let raw = check(&cell, folder.path());
    let lost = number(&cell["lost"]);
    assert!(lost > 50, "a quarter of the quotes since it was stopped: {cell}");
    assert!(
        marks(&cell).contains(&format!("lost: {lost} of {}", number(&cell["expected"]))),
        "{}",
        marks(&cell)
    );
    // What is open lies in the percentiles with its wait so far: no sample took that long.
    let longest = raw.iter().filter_map(Stamps::open_waits).map(|(_, due)| due).max().expect("an open wait");
    let p99 = cell["stages"]["t2o_intended"]["p99_us"].as_f64().expect("p99");
    assert!(p99 > 0.2 * longest as f64 / 1e3, "p99 {p99} µs, longest open wait {longest} ns");
}

#[test]
fn a_gateway_that_stops_near_the_end_is_counted_and_marks_the_cell() {
    let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
    let cell = run(&home, folder.path(), "td", |pid| kill(pid, "STOP"));
    check(&cell, folder.path());
    assert!(number(&cell["lost"]) > 200, "all quotes since it was stopped: {cell}");
    assert!(marks(&cell).contains("lost: "), "{}", marks(&cell));
}

#[test]
fn market_data_that_stops_near_the_end_owes_its_quotes() {
    let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
    let cell = run(&home, folder.path(), "md", |pid| kill(pid, "STOP"));
    check(&cell, folder.path());
    assert!(number(&cell["unpublished"]) > 200, "{cell}");
    assert!(marks(&cell).contains("because md was behind"), "{}", marks(&cell));
}

#[test]
fn a_node_that_is_killed_and_comes_back_marks_the_cell() {
    let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
    let cell = run(&home, folder.path(), "td", |pid| kill(pid, "KILL"));
    check(&cell, folder.path());
    assert!(marks(&cell).contains("restarted: td") || marks(&cell).contains("failed: "), "{}", marks(&cell));
}

#[test]
fn strategies_that_think_longer_than_their_quotes_are_apart_carry_nothing() {
    let home = Home::new();
    let begun = Instant::now();
    let arguments =
        ["t2o", "capacity", "--rate", "450", "--think", "3ms", "--target-p99", "10s", "--most", "1"];
    let found =
        home.json(&[&arguments[..], &["--repeats", "1", "--seconds", "2s", "--format", "json"]].concat());
    assert_eq!(found["capacity"]["strategies"], 0, "1.35 s of work a second: {found}");
    let point = &found["capacity"]["curve"][0];
    assert!(
        point["carries"] == false && !point["why_not"].as_array().expect("reasons").is_empty(),
        "{point}"
    );
    assert!(begun.elapsed() > Duration::from_secs(2), "it was measured");
}

#[test]
fn a_hog_on_the_core_of_the_gateway_marks_the_cell_and_is_named() {
    let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
    let host = pinning::Host::read("/".as_ref()).expect("this host");
    let seen = std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd");
    let Some(cpu) = host.allowed.last().filter(|_| seen && host.allowed.len() > 1) else {
        eprintln!("skipped: two CPUs, and a view of other processes, are needed");
        return;
    };
    let spin = ["-c", &cpu.to_string(), "sh", "-c", "while :; do :; done"];
    let hog = std::process::Command::new("taskset").args(spin).spawn();
    let Ok(hog) = hog else {
        eprintln!("skipped: there is no taskset");
        return;
    };
    let pid = hog.id();
    let _hog = Running(Some(hog));
    let file = folder.path().join("hog.toml");
    let pinned = format!("{SCENARIO}[group.platform.pin.nodes]\ntd = {{ cpu = {cpu} }}\n");
    std::fs::write(&file, pinned).expect("written");
    let (file, out) = (file.display().to_string(), folder.path().join("out").display().to_string());
    let matrix = home.json(&["t2o", "run", &file, "--out", &out, "--format", "json"]);
    let cell = &matrix["cells"][0];
    assert!(marks(cell).contains("others: "), "{cell}");
    let others = cell["runs"][0]["observed"]["others"].to_string();
    assert!(others.contains(&format!("sh ({pid})")), "{others}");
}
