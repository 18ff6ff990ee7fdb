//! The whole platform, as a user runs it: real processes, real shared memory, through the `colo` binary.

mod home;

use std::path::{Path, PathBuf};
use std::process::Child;

use serde_json::Value;

use home::{Home, kill, number, stderr, stdout};

/// The demo, shorter.
const SHORT: &[&str] = &["--set", "md.count=300", "--set", "md.interval=2ms"];

#[test]
fn the_demo_runs_to_its_end_and_accounts_for_everything() {
    let home = Home::new();
    let report = home.json(&[&["up", "--format", "json"], SHORT].concat());
    assert_eq!(number(&report["quotes"]), 8 * 300, "{report}");
    let orders = number(&report["orders"]);
    assert!(orders > 0 && number(&report["fills"]) > 0, "{report}\n{}", home.logs());
    assert_eq!(number(&report["lost"]), 0, "{report}");
    assert_eq!(number(&report["wait_timeouts_with_data"]), 0, "{report}");
    assert_eq!(number(&report["disordered_samples"]), 0, "{report}");
    let strategies = report["strategies"].as_array().expect("strategies");
    assert_eq!(strategies.len(), 8);
    assert_eq!(strategies.iter().map(|strategy| number(&strategy["orders"])).sum::<u64>(), orders);
    // Every order that a quote caused has all its stages.
    let count = number(&report["stages"]["t2o"]["n"]);
    assert!(count > 0 && count <= orders);
    for stage in ["md", "strategy", "order"] {
        assert_eq!(number(&report["stages"][stage]["n"]), count);
    }
    // Strategies trade with the market only: what they hold is what they bought and sold.
    let held: f64 = strategies.iter().filter_map(|strategy| strategy["pnl"].as_f64()).sum();
    assert!(held.is_finite());
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_run_whose_talk_nobody_hears_still_ends_as_it_should() {
    let home = Home::new();
    let mut up = home.command(&[&["up"], SHORT].concat());
    // Closed before its first word: `colo up 2>&1 >report | true`.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = up.stderr(writer).output().expect("colo runs");
    assert!(output.status.success(), "{:?}\n{}", output.status, home.logs());
    assert!(stdout(&output).contains("lost: nothing"), "{}", stdout(&output));
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_platform_stays_shows_itself_and_goes() {
    let home = Home::new();
    let up = home.colo(&["up", "--stay", "--set", "md.count=0"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let status = home.json(&["status", "--format", "json"]);
    assert_eq!(status["phase"], "running");
    assert_eq!(status["nodes"].as_array().map(Vec::len), Some(13));
    assert!(status["journals"].as_array().is_some_and(|journals| journals.len() >= 20));
    home.wait_for("an order", || number(&home.node("demo", "td")["counters"]["orders"]) > 0);
    let tail = home.json(&["journal", "tail", "md.quotes", "-n", "3", "--format", "json"]);
    assert_eq!(tail["frames"].as_array().map(Vec::len), Some(3));
    let listed = home.json(&["journal", "ls", "--format", "json"]);
    assert_eq!(listed["instances"][0]["alive"], true);
    // A second master is told who holds the instance.
    let second = home.colo(&["run", "master"]);
    assert_eq!(second.status.code(), Some(73));
    let master = number(&home.node("demo", "master")["pid"]);
    assert!(stderr(&second).contains(&master.to_string()), "{}", stderr(&second));
    let down = home.colo(&["down"]);
    assert!(down.status.success(), "{}", stderr(&down));
    assert!(stdout(&down).contains("t2o"), "{}", stdout(&down));
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

#[test]
fn killed_nodes_are_noticed_and_the_others_go_on() {
    let home = Home::new();
    let up = home.colo(&["up", "--stay", "--set", "md.count=0"]);
    assert!(up.status.success(), "{}", stderr(&up));
    home.wait_for("an order", || number(&home.node("demo", "td")["counters"]["orders"]) > 0);
    // A strategy that may not restart: noticed, and gone.
    kill(number(&home.node("demo", "takers-1")["pid"]) as u32, "KILL");
    home.wait_for("the death of a strategy", || home.node("demo", "takers-1")["state"] == "failed");
    let before = number(&home.node("demo", "takers-2")["counters"]["orders"]);
    home.wait_for("orders of another strategy", || {
        number(&home.node("demo", "takers-2")["counters"]["orders"]) > before
    });
    // The parts of the platform come again.
    for name in ["ledger", "td", "matching"] {
        kill(number(&home.node("demo", name)["pid"]) as u32, "KILL");
        home.wait_for(&format!("the second start of {name}"), || {
            let node = home.node("demo", name);
            node["state"] == "running" && number(&node["starts"]) == 2
        });
    }
    let before = number(&home.node("demo", "matching")["counters"]["orders"]);
    home.wait_for("orders at the new matching", || {
        number(&home.node("demo", "matching")["counters"]["orders"]) > before
    });
    let down = home.colo(&["down", "--format", "json"]);
    assert!(down.status.success(), "{}", stderr(&down));
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

#[test]
fn data_flows_on_without_master_and_the_next_one_takes_over() {
    let home = Home::new();
    let up = home.colo(&["up", "--stay", "--set", "md.count=0"]);
    assert!(up.status.success(), "{}", stderr(&up));
    let td = home.node("demo", "td")["pid"].clone();
    kill(number(&home.node("demo", "master")["pid"]) as u32, "KILL");
    home.wait_for("master's death", || home.json(&["status", "--format", "json"])["master"] == false);
    let before = number(&home.node("demo", "td")["counters"]["orders"]);
    home.wait_for("orders without master", || {
        number(&home.node("demo", "td")["counters"]["orders"]) > before
    });
    let other = home.colo(&["up", "--stay", "--set", "md.count=7"]);
    assert_eq!(other.status.code(), Some(73), "{}", stderr(&other));
    assert!(stderr(&other).contains("another platform file"), "{}", stderr(&other));
    let again = home.colo(&["up", "--stay", "--set", "md.count=0"]);
    assert!(again.status.success(), "{}\n{}", stderr(&again), home.logs());
    assert_eq!(home.node("demo", "td")["pid"], td);
    assert_eq!(home.json(&["status", "--format", "json"])["master"], true);
    assert!(home.colo(&["down"]).status.success());
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

#[test]
fn who_takes_over_leaves_the_folder_of_the_run_where_it_was() {
    let home = Home::new();
    let folder = |name: &str| home.state_path().join(name).display().to_string();
    let (first, second) = (folder("first"), folder("second"));
    let up = |more: &[&str]| home.colo(&[&["up", "--stay", "--set", "md.count=0"], more].concat());
    let begun = up(&["--out", &first]);
    assert!(begun.status.success(), "{}", stderr(&begun));
    let td = home.node("demo", "td")["pid"].clone();
    for more in [&[][..], &["--out", &second]] {
        kill(number(&home.node("demo", "master")["pid"]) as u32, "KILL");
        home.wait_for("master's death", || home.json(&["status", "--format", "json"])["master"] == false);
        let again = up(more);
        assert!(again.status.success(), "{}\n{}", stderr(&again), home.logs());
        assert!(stderr(&again).contains(&format!("stays {first}")), "{}", stderr(&again));
        assert_eq!(home.node("demo", "td")["pid"], td);
    }
    let down = home.colo(&["down"]);
    assert!(down.status.success(), "{}", stderr(&down));
    let is_there = |folder: &str| std::path::Path::new(folder).join("run.json").exists();
    assert!(is_there(&first) && !is_there(&second), "{}", stderr(&down));
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_master_that_takes_over_closes_a_market_whose_matching_died_meanwhile() {
    let home = Home::new();
    let up = || home.colo(&["up", "--stay", "--set", "md.count=0", "--set", "matching.restart=never"]);
    assert!(up().status.success());
    let matching = || home.node("demo", "matching");
    home.wait_for("orders", || number(&matching()["counters"]["orders"]) > 0);
    kill(number(&home.node("demo", "master")["pid"]) as u32, "KILL");
    kill(number(&matching()["pid"]) as u32, "KILL");
    home.wait_for("both deaths", || {
        home.json(&["status", "--format", "json"])["master"] == false && matching()["state"] == "dead"
    });
    let again = up();
    assert!(again.status.success(), "{}\n{}", stderr(&again), home.logs());
    home.wait_for("the market's end", || {
        let matching = matching();
        matching["state"] == "running" && number(&matching["counters"]["rejects"]) > 0
    });
    assert!(home.logs().contains("it closes the market"), "{}", home.logs());
    // The last one's death is the end of it: nobody closes twice.
    kill(number(&matching()["pid"]) as u32, "KILL");
    home.wait_for("its death", || matching()["state"] == "failed");
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!((matching()["state"].clone(), number(&matching()["starts"])), ("failed".into(), 2));
    let report = home.json(&["down", "--format", "json"]);
    assert!(number(&report["orders"]) > 0, "{report}");
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_platform_without_master_can_be_taken_down() {
    let home = Home::new();
    assert!(home.colo(&["up", "--stay", "--set", "md.count=0"]).status.success());
    kill(number(&home.node("demo", "master")["pid"]) as u32, "KILL");
    home.wait_for("master's death", || home.json(&["status", "--format", "json"])["master"] == false);
    let down = home.colo(&["down"]);
    assert!(down.status.success(), "{}", stderr(&down));
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

#[test]
fn wrong_input_gets_a_clear_answer_and_its_own_exit_code() {
    let home = Home::new();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["up", "--set", "md.intervall=1ms"], 2, "did you mean"),
        (&["up", "no-such-file.toml"], 2, "no-such-file.toml"),
        (&["status"], 69, "no instance"),
        (&["down", "nobody"], 69, "nobody"),
        (&["frobnicate"], 2, "unrecognized"),
        (&["run", "td", "--instance", "nobody"], 69, "no master"),
        (&["journal", "tail", "md.quotes"], 69, "no instance"),
        (&["up", "--set", "pin.nodes.md.cpu=8000"], 3, "8000"),
        (&["up", "--set", "strategies.program=/no/such/program"], 2, "/no/such/program"),
    ];
    for (arguments, code, word) in cases {
        let output = home.colo(arguments);
        assert_eq!(output.status.code(), Some(*code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(word), "{arguments:?} does not say `{word}`: {}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{arguments:?}: {}", stderr(&output));
    }
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

/// Recorded days, where they are.
fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("COLO_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"));
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no recorded data at {} (set COLO_DATA to its folder)", folder.display());
    None
}

fn config(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs").join(name).display().to_string()
}

#[test]
fn recorded_days_are_replayed_whole() {
    let Some(data) = data() else { return };
    let home = Home::new();
    for (source, folder, rows) in [
        ("sse", "sse-600519-20230201", 81_870),
        ("lobster", "lobster-aapl-20120621", 45_000),
        ("pitch", "pitch-288", 100_000),
        ("dbn", "dbn-es-20231225", 68_792),
    ] {
        let folder = match source {
            "lobster" => data.join(folder).join("message.csv.gz"),
            _ => data.join(folder),
        };
        let (source_set, files_set) =
            (format!("md.source={source}"), format!("md.files={}", folder.display()));
        let file = config("replay.toml");
        let report = home.json(&["up", &file, "--set", &source_set, "--set", &files_set, "--format", "json"]);
        let counts = &report["source"];
        assert_eq!(number(&counts["messages"]), rows, "{source}: {report}\n{}", home.logs());
        assert_eq!(number(&counts["rejected"]), 0, "{source}");
        assert!(number(&report["quotes"]) > 1_000, "{source}: {report}");
        assert_eq!(number(&report["lost"]), 0, "{source}: {report}");
        assert!(number(&report["orders"]) > 0, "{source}: {report}");
        assert_eq!(home.left(), Vec::<PathBuf>::new());
    }
}

/// What must be the same on every run.
fn outcome(home: &Home, arguments: &[&str]) -> (Value, Value, Value) {
    let report = home.json(arguments);
    assert_eq!(report["deterministic"], true);
    assert!(number(&report["fills"]) > 0, "{report}\n{}", home.logs());
    (report["orders"].clone(), report["fills"].clone(), report["strategies"].clone())
}

#[test]
fn lock_step_gives_the_same_fills_twice() {
    let home = Home::new();
    let file = config("deterministic.toml");
    let run = || outcome(&home, &["up", &file, "--set", "md.count=60", "--format", "json"]);
    assert_eq!(run(), run());
}

#[test]
fn lock_step_gives_the_same_fills_twice_on_a_recorded_day() {
    let Some(data) = data() else { return };
    let home = Home::new();
    let file = config("replay.toml");
    let files = format!("md.files={}", data.join("lobster-aapl-20120621/message.csv.gz").display());
    let sets = ["md.source=lobster", &files, "md.to=09:31:30", "platform.deterministic=true"];
    let mut arguments = vec!["up", &file, "--format", "json"];
    arguments.extend(sets.iter().flat_map(|set| ["--set", set]));
    assert_eq!(outcome(&home, &arguments), outcome(&home, &arguments));
}

#[test]
fn a_child_that_was_killed_leaves_nothing_after_the_next_up() {
    let home = Home::new();
    let mut up: Child = home.command(&["up", "--set", "md.count=0"]).spawn().expect("colo starts");
    home.wait_for("the platform", || home.root.path().join("demo/registry").exists());
    home.wait_for("the phase", || home.json(&["status", "--format", "json"])["phase"] == "running");
    kill(up.id(), "KILL");
    up.wait().expect("reaped");
    // The platform does not need whoever watches it.
    assert_eq!(home.json(&["status", "--format", "json"])["master"], true);
    assert!(home.colo(&["down"]).status.success());
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}
