//! `colo t2o` from scenario to report, on real platforms.

mod home;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use home::{Home, kill, stderr, stdout};

fn scenario(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/scenarios").join(name).display().to_string()
}

/// Short runs: what the figures are does not matter here.
const SHORT: [&str; 4] = ["--set", "run.shortest=\"100ms\"", "--set", "run.samples=20"];

fn run(home: &Home, out: &Path, more: &[&str]) -> Value {
    let (file, out) = (scenario("smoke.toml"), out.display().to_string());
    let mut arguments = vec!["t2o", "run", &file, "--out", &out, "--format", "json"];
    arguments.extend(SHORT);
    arguments.extend(more);
    home.json(&arguments)
}

fn names(matrix: &Value) -> Vec<&str> {
    matrix["cells"].as_array().unwrap().iter().map(|cell| cell["name"].as_str().unwrap()).collect()
}

#[test]
fn a_scenario_is_run_resumed_reported_and_compared() {
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let out: PathBuf = folder.path().join("out");
    let first = run(&home, &out, &["--only", "A1"]);
    assert_eq!(names(&first), ["A1"]);
    assert_eq!(first["missing"].as_array().unwrap().len(), 3);

    let again = run(&home, &out, &["--resume", "--only", "A1,A2"]);
    assert_eq!(names(&again), ["A1", "A2"]);
    assert_eq!(again["cells"][0]["runs"], first["cells"][0]["runs"], "a finished cell is not run again");
    for cell in again["cells"].as_array().unwrap() {
        assert!(cell["samples"].as_u64().unwrap() >= 10, "{cell}");
        for stage in ["md", "strategy", "order", "t2o", "t2o_intended"] {
            assert!(cell["stages"][stage]["p50_us"].as_f64().unwrap() > 0.0, "{stage}");
        }
        assert!(cell["wakeups"].as_f64().unwrap() > 0.0 && cell["pages"] == "4 KiB", "{cell}");
        let [low, high] =
            ["/0", "/1"].map(|at| cell["stages"]["t2o"]["mean_us"].pointer(at).unwrap().as_f64());
        assert!(low <= high);
        assert_eq!(cell["runs"][0]["disordered"], 0);
    }
    let raw = fs::read_dir(out.join("raw")).unwrap().count();
    assert_eq!(raw, 4);
    assert!(home.left().is_empty(), "instances are left: {:?}", home.left());

    let text = out.display().to_string();
    let report = home.json(&["t2o", "report", &text, "--format", "json"]);
    assert_eq!(report["claims"][0]["name"], "measured");
    for name in ["report.html", "report.md", "report.csv", "report.json"] {
        assert!(fs::metadata(out.join(name)).unwrap().len() > 100, "{name}");
    }
    let compared = home.colo(&["t2o", "compare", &text, &text, "--tolerance", "10"]);
    assert_eq!(compared.status.code(), Some(5), "{}{}", stdout(&compared), stderr(&compared));
    // Too few runs, or a host that was busy: the reason is there, whichever it is.
    assert!(stdout(&compared).contains("A1: inconclusive: "), "{}", stdout(&compared));
}

#[test]
fn a_folder_with_results_is_not_overwritten_nor_mixed() {
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (scenario("smoke.toml"), folder.path().display().to_string());
    run(&home, folder.path(), &["--only", "A2", "--set", "run.repeats=1"]);
    let again = home.colo(&["t2o", "run", &file, "--out", &out]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("--resume"), "{}", stderr(&again));
    let other = home.colo(&["t2o", "run", &file, "--out", &out, "--resume", "--set", "run.seed=9"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("another scenario"), "{}", stderr(&other));
}

#[test]
fn ctrl_c_keeps_what_is_finished() {
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (scenario("smoke.toml"), folder.path().display().to_string());
    let sets = ["--set", "run.order=listed", "--set", "run.repeats=50"];
    let mut arguments = vec!["t2o", "run", &file, "--out", &out, "--format", "json"];
    arguments.extend(SHORT);
    arguments.extend(sets);
    let child = home.command(&arguments).spawn().unwrap();
    home.wait_for("a finished run", || folder.path().join("runs/A1-1.json").exists());
    kill(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("--resume"), "{}", stderr(&output));
    let matrix: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(matrix["cells"][0]["name"], "A1");
    assert!(home.left().is_empty(), "instances are left: {:?}", home.left());
}

#[test]
fn plans_and_checks_start_nothing_and_show_faults() {
    let home = Home::new();
    let file = scenario("matrix-quick.toml");
    let plan = home.json(&["t2o", "plan", &file, "--only", "A,B,C,D", "--format", "json"]);
    assert_eq!(plan["cells"].as_array().unwrap().len(), 48);
    assert!(plan["seconds"].as_f64().unwrap() < 1_800.0, "the quick matrix is quick");
    let checked = home.colo(&["check", &file]);
    assert_eq!(checked.status.code(), Some(0), "{}", stderr(&checked));
    let wrong = home.colo(&["check", &file, "--set", "run.repaets=1"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("did you mean `repeats`?"), "{}", stderr(&wrong));
    let nowhere = home.colo(&["t2o", "plan", &file, "--only", "Q7"]);
    assert_eq!(nowhere.status.code(), Some(2));
    let nothing = home.colo(&["t2o", "report", "/nonexistent"]);
    assert_eq!(nothing.status.code(), Some(2), "{}", stderr(&nothing));
    assert!(home.left().is_empty());
}

#[test]
fn capacity_searches_by_measuring() {
    let home = Home::new();
    let arguments =
        ["t2o", "capacity", "--rate", "50", "--target-p99", "10s", "--most", "2", "--repeats", "1"];
    let found = home.json(&[&arguments[..], &["--seconds", "2s", "--format", "json"]].concat());
    assert_eq!(found["capacity"]["strategies"], 2, "{found}");
    assert_eq!(found["capacity"]["at_limit"], true);
    assert_eq!(found["capacity"]["curve"].as_array().unwrap().len(), 2);
}

/// The shipped scenario, short, with its recordings in a folder of the test.
#[test]
fn where_orders_are_recorded_the_time_until_they_are_on_disk_is_a_stage() {
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let recordings = folder.path().join("recordings");
    let text = fs::read_to_string(scenario("recorded.toml")).unwrap();
    let text = text.replace("/var/tmp/colo-t2o", &recordings.display().to_string());
    let file = folder.path().join("recorded.toml").display().to_string();
    fs::write(&file, text).unwrap();
    let out = folder.path().join("out");
    let shown = out.display().to_string();
    let mut arguments = vec!["t2o", "run", &file, "--out", &shown, "--format", "json"];
    arguments.extend(SHORT);
    arguments.extend(["--only", "D1,DR1,DS1", "--set", "run.repeats=1", "--set", "run.warmup=\"200ms\""]);
    let matrix = home.json(&arguments);
    assert_eq!(names(&matrix), ["D1", "DR1", "DS1"]);
    for cell in matrix["cells"].as_array().unwrap() {
        let (run, durable) = (&cell["runs"][0], &cell["stages"]["durable"]);
        assert!(run["failed"].is_null(), "{cell:#}");
        if cell["group"] == "D" {
            assert!(durable.is_null() && run["on_disk"].is_null(), "{cell:#}");
            continue;
        }
        assert_eq!(run["on_disk"], cell["samples"], "of each order it is known: {cell:#}");
        assert!(durable["p50_us"].as_f64().unwrap() > 0.0, "{cell:#}");
        assert!(durable["max_us"].as_f64() >= durable["p50_us"].as_f64(), "{cell:#}");
    }
    let left = |folder: PathBuf| {
        fs::read_dir(folder).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir()).count()
    };
    let instances = fs::read_dir(&recordings).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(instances.map(left).sum::<usize>(), 0, "recordings are removed once they are read");
    // Every figure is computed from the raw files again.
    home.json(&["t2o", "report", &shown, "--format", "json"]);
    let report = fs::read_to_string(out.join("report.md")).unwrap();
    assert!(report.contains("order on disk, p50"), "{report}");
    let csv = fs::read_to_string(out.join("report.csv")).unwrap();
    assert_eq!(csv.lines().filter(|line| line.contains(",durable,")).count(), 2, "{csv}");
}
