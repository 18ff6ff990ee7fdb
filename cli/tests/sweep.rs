//! `colo sweep`: the same table whatever the jobs, kills and Ctrl-C, what is wrong in a file, runs that fail, what is kept.

mod home;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;

use home::{Home, kill, stderr, stdout};
use serde_json::Value;

/// Makers and takers in a simulated market.
const PLATFORM: &str = r#"
[platform]
instance = "swept"
deterministic = true

[md]
source = "sim"
instruments = 2
interval = "1ms"
count = 60
generator = "timed"
readers = "gated"

[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 1
instruments = "all"

[[strategies.group]]
name = "takers"
program = "builtin:taker"
count = 2
"#;

const SWEEP: &str = r#"
platform = "platform.toml"
strategy = "makers"
seeds = [1, 2]

[parameters]
"strategies.makers.params.half_spread_ticks" = { from = 1, to = 3, step = 1 }
"md.instruments" = [2, 3]
"#;

/// A folder with a platform file and a sweep file.
fn place(home: &Home, platform: &str, sweep: &str) -> (PathBuf, String) {
    let folder = home.state_path().join("files");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("platform.toml"), platform).expect("written");
    let file = folder.join("sweep.toml");
    fs::write(&file, sweep).expect("written");
    (folder, file.display().to_string())
}

fn out(home: &Home, name: &str) -> (PathBuf, String) {
    let path = home.state_path().join(name);
    let text = path.display().to_string();
    (path, text)
}

fn table(folder: &Path) -> String {
    fs::read_to_string(folder.join("table.csv")).expect("a table")
}

/// Rows by column.
fn rows(folder: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(folder.join("table.csv")).expect("a table");
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

fn done_lines(folder: &Path) -> usize {
    fs::read_to_string(folder.join("done.jsonl")).map_or(0, |text| text.matches('\n').count())
}

/// Ends with its test.
struct Running(Option<Child>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Processes that have this text in their command line.
fn processes(text: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("processes").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
    let has = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    pids.filter(|pid| *pid != std::process::id()).filter(has).collect()
}

#[test]
fn the_table_is_the_same_whatever_the_number_of_jobs() {
    let home = Home::new();
    let (_, file) = place(&home, PLATFORM, SWEEP);
    let mut tables = Vec::new();
    for jobs in ["1", "3"] {
        let (folder, text) = out(&home, &format!("out-{jobs}"));
        let run = home.colo(&["sweep", &file, "--out", &text, "--jobs", jobs]);
        assert!(run.status.success(), "{}\n{}", stderr(&run), home.logs());
        assert!(stderr(&run).contains("12 of 12 runs ended, 0 of them failed"), "{}", stderr(&run));
        tables.push(table(&folder));
    }
    assert_eq!(tables[0], tables[1]);
    let rows = rows(&home.state_path().join("out-3"));
    let key = "strategies.makers.params.half_spread_ticks";
    let order: Vec<[&str; 4]> = rows
        .iter()
        .map(|row| [&row["run"], &row[key], &row["md.instruments"], &row["seed"]].map(String::as_str))
        .collect();
    assert_eq!(
        order[..5],
        [
            ["0001", "1", "2", "1"],
            ["0002", "1", "2", "2"],
            ["0003", "1", "3", "1"],
            ["0004", "1", "3", "2"],
            ["0005", "2", "2", "1"]
        ]
    );
    assert!(rows.iter().all(|row| row["state"] == "finished" && !row["pnl"].is_empty()), "{rows:?}");
    let different: std::collections::BTreeSet<&String> = rows.iter().map(|row| &row["orders"]).collect();
    assert!(different.len() > 1, "the parameters change nothing: {different:?}");
    assert!(home.left().is_empty(), "instances are left: {:?}", home.left());
}

#[test]
fn a_killed_sweep_leaves_nobody_and_goes_on_where_it_was() {
    let home = Home::new();
    let platform = PLATFORM.replace("count = 60", "count = 600");
    let (_, file) = place(&home, &platform, SWEEP);
    let (whole, whole_text) = out(&home, "whole");
    assert!(home.colo(&["sweep", &file, "--out", &whole_text]).status.success());
    for (name, signal, code) in [("killed", "KILL", None), ("interrupted", "INT", Some(130))] {
        let (folder, text) = out(&home, name);
        let child =
            home.command(&["sweep", &file, "--out", &text, "--jobs", "2"]).spawn().expect("colo starts");
        let mut running = Running(Some(child));
        home.wait_for("two runs that have ended", || done_lines(&folder) >= 2);
        kill(running.0.as_ref().expect("it runs").id(), signal);
        let output = running.0.take().expect("it runs").wait_with_output().expect("its output");
        assert_eq!(output.status.code(), code, "{}", stderr(&output));
        home.wait_for("the end of its runs", || processes(&text).is_empty());
        home.wait_for("the end of their instances", || home.left().is_empty());
        let before = done_lines(&folder);
        assert!(before < 12, "it was over before it was ended");
        let shown = home.json(&["sweep", "show", &text, "--format", "json"]);
        let state = if code.is_some() { "interrupted" } else { "unfinished" };
        assert_eq!(shown["state"], state, "{shown}");
        if code.is_some() {
            assert!(stderr(&output).contains(&format!("colo sweep --resume {text}")), "{}", stderr(&output));
            assert_eq!(shown["finished"].as_u64(), Some(before as u64), "{shown}");
            assert!(table(&folder).contains(",open,"), "what has not ended is no result");
        }
        let resumed = home.json(&["sweep", "--resume", &text, "--format", "json"]);
        assert_eq!(
            resumed["ran"].as_u64(),
            Some(12 - before as u64),
            "what had ended did not run again: {resumed}"
        );
        assert_eq!(table(&folder), table(&whole), "{name}");
    }
}

#[test]
fn a_second_signal_ends_the_runs_at_once_and_says_so() {
    let home = Home::new();
    let platform = PLATFORM.replace("count = 60", "count = 100000000");
    let (_, file) = place(&home, &platform, SWEEP);
    let (folder, text) = out(&home, "out");
    let child = home.command(&["sweep", &file, "--out", &text, "--jobs", "2"]).spawn().expect("colo starts");
    let mut running = Running(Some(child));
    home.wait_for("two runs", || ["0001", "0002"].iter().all(|run| folder.join("runs").join(run).exists()));
    // They cannot end by themselves, so that the second signal has something to do.
    processes(&format!("{text}/runs")).iter().for_each(|run| kill(*run, "STOP"));
    let pid = running.0.as_ref().expect("it runs").id();
    kill(pid, "INT");
    std::thread::sleep(std::time::Duration::from_millis(300));
    kill(pid, "INT");
    let output = running.0.take().expect("it runs").wait_with_output().expect("its output");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("interrupted; what has ended is kept"), "{}", stderr(&output));
    assert!(stderr(&output).contains(&format!("colo sweep --resume {text}")), "{}", stderr(&output));
    assert_eq!(processes(&text), Vec::<u32>::new());
    assert!(home.left().is_empty(), "instances are left: {:?}", home.left());
    assert!(!folder.join("runs/0001").exists() && !folder.join("running").exists());
}

#[test]
fn what_a_killed_sweep_has_left_running_ends_before_it_goes_on() {
    let home = Home::new();
    let (_, file) = place(&home, &PLATFORM.replace("count = 60", "count = 600"), SWEEP);
    let (whole, whole_text) = out(&home, "whole");
    assert!(home.colo(&["sweep", &file, "--out", &whole_text]).status.success());
    let (folder, text) = out(&home, "killed");
    let child = home.command(&["sweep", &file, "--out", &text, "--jobs", "1"]).spawn().expect("colo starts");
    let mut running = Running(Some(child));
    let pid = running.0.as_ref().expect("it runs").id();
    let runs = || processes(&format!("{text}/runs"));
    home.wait_for("a run that has not ended", || {
        let now = runs();
        now.iter().for_each(|run| kill(*run, "STOP"));
        let stands = |run: &u32| {
            fs::read_to_string(format!("/proc/{run}/stat")).is_ok_and(|stat| stat.contains(") T "))
        };
        now.iter().any(stands)
    });
    kill(pid, "KILL");
    let _ = running.0.take().expect("it runs").wait_with_output();
    let left = runs();
    assert!(!left.is_empty(), "it has ended");
    // It cannot hear that its sweep has gone until somebody lets it go on: by then another run has its place.
    let resumed = home.json(&["sweep", "--resume", &text, "--format", "json"]);
    assert_eq!(resumed["failed"], 0, "{resumed}");
    assert_eq!(table(&folder), table(&whole));
    assert!(left.iter().all(|run| !runs().contains(run)), "it still runs");
    assert!(home.left().is_empty(), "instances are left: {:?}", home.left());
}

#[test]
fn half_a_line_of_a_killed_sweep_is_no_result() {
    let home = Home::new();
    let (_, file) = place(&home, PLATFORM, SWEEP);
    let (folder, text) = out(&home, "out");
    assert!(home.colo(&["sweep", &file, "--out", &text]).status.success());
    let whole = table(&folder);
    let path = folder.join("done.jsonl");
    let lines = fs::read_to_string(&path).expect("lines");
    fs::write(&path, &lines[..lines.len() - 30]).expect("written");
    let resumed = home.json(&["sweep", "--resume", &text, "--format", "json"]);
    assert_eq!((resumed["ran"].as_u64(), table(&folder) == whole), (Some(1), true), "{resumed}");
}

#[test]
fn names_that_are_wrong_are_refused_before_anything_runs() {
    let home = Home::new();
    let text = r#"
platform = "platform.toml"
strategy = "maker"
measure = "sharp"
seedz = [1]

[parameters]
"strategies.makers.params.half_spred_ticks" = [1, 2]
"strategies.makers.params.skew_tiks" = [1, 2]
"strategies.takers.params.quantity" = [1, 0]
"strategies.taker.params.every" = [1, 2]
"md.instrumets" = [1, 2]
"md.interval" = ["1ms", "soon"]
"md.count" = { from = 10, to = 30, stp = 10 }

[days]
test = ["monday"]
"#;
    let (_, file) = place(&home, PLATFORM, text);
    let (folder, name) = out(&home, "out");
    let refused = |text: &str, wanted: &[&str]| {
        fs::write(&file, text).expect("written");
        for verb in [&["sweep", &file, "--out", &name][..], &["sweep", &file, "--dry-run"], &["check", &file]]
        {
            let run = home.colo(verb);
            assert_eq!(run.status.code(), Some(2), "{verb:?}: {}", stderr(&run));
            for wanted in wanted {
                assert!(
                    stderr(&run).contains(wanted),
                    "{verb:?} says nothing of {wanted}:\n{}",
                    stderr(&run)
                );
            }
            assert_eq!(stdout(&run), "");
        }
        assert!(!folder.exists(), "nothing is made");
    };
    // What is wrong in the file itself, all at once, each with its place.
    refused(
        text,
        &[
            "did you mean `seeds`?",
            "did you mean \"sharpe\"?",
            "no group of strategies is named `taker`",
            "did you mean `takers`?",
            "did you mean `step`?",
            "no day is called `monday`",
            "sweep.toml:4:11",
        ],
    );
    // What only the platform knows, once the file is good in itself.
    let text = text
        .replace("seedz", "seeds")
        .replace("\"sharp\"", "\"pnl\"")
        .replace("taker.params.every", "takers.params.every")
        .replace("stp", "step")
        .replace("[\"monday\"]", "[]");
    refused(&text, &["did you mean `instruments`?", "\"soon\" is no duration", "sweep.toml:13:25"]);
    // What only the strategies know.
    let text = text.replace("instrumets", "instruments").replace("\"soon\"", "\"2ms\"");
    refused(
        &text,
        &[
            "unknown field `half_spred_ticks`",
            "unknown field `skew_tiks`",
            "quantity",
            "must be at least 1",
            "no strategy and no group is named `maker`",
            "did you mean \"makers\"?",
        ],
    );
    // A combination that does not fit, though each value would.
    let clash = SWEEP.replace("[2, 3]", "[2, 3]\n\"md.seed\" = [3]");
    refused(&clash, &["`md.seed` is no parameter of a sweep", "`seeds` sets it"]);
    refused(&SWEEP.replace("platform.toml", "plattform.toml"), &["cannot read", "plattform.toml"]);
    refused(&SWEEP.replace("seeds = [1, 2]", "seeds = [1, 1]"), &["the seed 1 stands twice"]);
    refused(
        &SWEEP.replace("strategy = \"makers\"", "measure = \"sharpe\""),
        &["`sharpe` is of one strategy, and 3 are meant"],
    );
    refused(&SWEEP.replace("[2, 3]", "[]"), &["`md.instruments` has no value to try"]);
    let racing = PLATFORM.replace("deterministic = true", "");
    fs::write(home.state_path().join("files/platform.toml"), racing).expect("written");
    refused(SWEEP, &["the platform races"]);
}

/// Some orders in LOBSTER's format, a second apart.
fn lobster(price: u32) -> String {
    let mut rows = String::new();
    for second in 0..40_u32 {
        let (bid, ask) = (price - 100 + second % 7 * 10, price + 100 + second % 5 * 10);
        let time = 34_200 + second;
        rows.push_str(&format!(
            "{time}.1,1,{},100,{bid},1\n{time}.2,1,{},100,{ask},-1\n",
            2 * second + 1,
            2 * second + 2
        ));
    }
    rows
}

const DAYS_PLATFORM: &str = r#"
[md]
source = "lobster"
files = "nothing"
symbols = ["X"]
speed = "max"
readers = "gated"
[matching]
fill = "book"
[[strategies.group]]
name = "taker"
program = "builtin:taker"
count = 1
instruments = "all"
"#;

const DAYS_SWEEP: &str = r#"
platform = "platform.toml"
keep = "KEEP"
[parameters]
strategies.taker.params.max_position = [100, 300]
[days]
list = ["one.csv", { files = "two.csv", name = "tuesday" }, "broken.csv"]
test = ["tuesday"]
"#;

#[test]
fn a_run_that_fails_is_a_row_and_others_go_on() {
    let home = Home::new();
    let (folder, file) = place(&home, DAYS_PLATFORM, &DAYS_SWEEP.replace("KEEP", "best:1"));
    fs::write(folder.join("one.csv"), lobster(1_000_000)).expect("written");
    fs::write(folder.join("two.csv"), lobster(2_000_000)).expect("written");
    fs::write(folder.join("broken.csv"), "34200.1,1,7,100,1000000,1\nwhat is this\n").expect("written");
    let (kept, text) = out(&home, "out");
    let run = home.colo(&["sweep", &file, "--out", &text]);
    assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
    let all = rows(&kept);
    let states: Vec<[&str; 3]> =
        all.iter().map(|row| [&row["day"], &row["part"], &row["state"]].map(String::as_str)).collect();
    let each = [["one", "train", "finished"], ["tuesday", "test", "finished"], ["broken", "train", "failed"]];
    assert_eq!(states, [each, each].concat());
    assert!(all[2]["why"].contains("broken.csv, row 2"), "{:?}", all[2]);
    assert!(all[0]["orders"].parse::<u32>().is_ok_and(|orders| orders > 0), "{:?}", all[0]);
    assert!(
        stderr(&run).contains("run 0003: failed: ") && stderr(&run).contains("run 0006: failed: "),
        "{}",
        stderr(&run)
    );
    assert!(!stdout(&run).contains("run 0003"), "said once: {}", stdout(&run));
    let shown = home.colo(&["sweep", "show", &text]);
    assert!(stdout(&shown).contains("run 0003: failed: "), "{}", stdout(&shown));
    // Of one everything, of the others the tables, of those that failed what they said.
    let has = |run: &str, name: &str| kept.join("runs").join(run).join(name).exists();
    let whole = all.iter().filter(|row| has(&row["run"], "orders.csv")).count();
    assert_eq!(whole, 1, "keep = \"best:1\"");
    let finished = all.iter().filter(|row| row["state"] == "finished");
    assert!(finished.clone().all(|row| has(&row["run"], "run.json") && has(&row["run"], "strategies.csv")));
    assert!(has("0003", "stderr.txt"), "of a run that failed the words stay");
    // It may run again alone.
    fs::write(folder.join("broken.csv"), lobster(3_000_000)).expect("written");
    let refused = home.colo(&["sweep", "--resume", &text]);
    assert_eq!(refused.status.code(), Some(4), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("broken.csv has changed"), "{}", stderr(&refused));
    let again = home.json(&["sweep", "--resume", &text, "--rerun", "changed,failed", "--format", "json"]);
    assert_eq!((&again["ran"], &again["failed"]), (&2.into(), &0.into()), "{again}");
    let shown = home.json(&["sweep", "show", &text, "--format", "json"]);
    assert_eq!(shown["combinations"][0]["test"]["n"], 1, "{shown}");
    assert_eq!(shown["combinations"][0]["train"]["n"], 2, "{shown}");
    assert!(home.left().is_empty(), "instances are left: {:?}", home.left());
}

#[test]
fn a_finished_run_counts_as_long_as_it_was_made_from_the_same() {
    let home = Home::new();
    let (folder, file) = place(&home, PLATFORM, SWEEP);
    let (kept, text) = out(&home, "out");
    assert!(home.colo(&["sweep", &file, "--out", &text]).status.success());
    let ran = |more: &[&str]| {
        let words = [&["sweep", "--resume", &text, "--format", "json"], more].concat();
        home.json(&words)["ran"].as_u64()
    };
    // A remark changes no run; nor does another number of jobs.
    fs::write(folder.join("platform.toml"), format!("# a remark\n{PLATFORM}")).expect("written");
    assert_eq!(ran(&["--jobs", "1"]), Some(0));
    fs::write(folder.join("platform.toml"), PLATFORM.replace("count = 60", "count = 61")).expect("written");
    let before = table(&kept);
    let refused = home.colo(&["sweep", "--resume", &text]);
    assert_eq!(refused.status.code(), Some(4), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("12 finished runs")
            && stderr(&refused).contains("platform.toml has changed"),
        "{}",
        stderr(&refused)
    );
    assert_eq!(table(&kept), before, "a refusal changes nothing");
    assert_eq!(ran(&["--rerun", "changed"]), Some(12));
    assert_ne!(table(&kept), before);
    // Another grid is another sweep.
    fs::write(&file, SWEEP.replace("[2, 3]", "[2, 4]")).expect("written");
    let other = home.colo(&["sweep", "--resume", &text]);
    assert_eq!(other.status.code(), Some(2), "{}", stderr(&other));
    assert!(stderr(&other).contains("its parameters are others"), "{}", stderr(&other));
}

#[test]
fn a_run_that_takes_too_long_is_ended() {
    let home = Home::new();
    let platform = PLATFORM.replace("count = 60", "count = 100000000");
    let sweep = SWEEP.replace("seeds = [1, 2]", "timeout = \"1s\"\nsample = 2");
    let (_, file) = place(&home, &platform, &sweep);
    let (folder, text) = out(&home, "out");
    let run = home.colo(&["sweep", &file, "--out", &text, "--jobs", "2"]);
    assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
    let rows = rows(&folder);
    assert_eq!(rows.len(), 2, "a sample of two");
    for row in rows {
        assert_eq!(
            (row["state"].as_str(), row["why"].as_str()),
            ("timeout", "it took longer than 1s"),
            "{row:?}"
        );
    }
    assert!(home.left().is_empty(), "instances are left: {:?}", home.left());
}

#[test]
fn two_sweeps_do_not_write_into_one_folder() {
    let home = Home::new();
    let (_, file) = place(&home, &PLATFORM.replace("count = 60", "count = 100000000"), SWEEP);
    let (folder, text) = out(&home, "out");
    let child = home.command(&["sweep", &file, "--out", &text, "--jobs", "1"]).spawn().expect("colo starts");
    let mut running = Running(Some(child));
    home.wait_for("a run", || folder.join("runs/0001").exists());
    let second = home.colo(&["sweep", "--resume", &text]);
    assert_eq!(second.status.code(), Some(1), "{}", stderr(&second));
    assert!(stderr(&second).contains("another `colo sweep` is at work"), "{}", stderr(&second));
    let begun = home.colo(&["sweep", &file, "--out", &text]);
    assert_eq!(begun.status.code(), Some(2), "{}", stderr(&begun));
    assert_eq!(home.json(&["sweep", "show", &text, "--format", "json"])["state"], "running");
    kill(running.0.as_ref().expect("it runs").id(), "INT");
    let output = running.0.take().expect("it runs").wait_with_output().expect("its output");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(!folder.join("runs/0001").exists(), "what had not ended leaves nothing");
    assert!(home.left().is_empty(), "instances are left: {:?}", home.left());
}

#[test]
fn the_page_and_the_tables_say_the_same() {
    let home = Home::new();
    let (_, file) = place(&home, PLATFORM, SWEEP);
    let (folder, text) = out(&home, "out");
    let run = home.colo(&["sweep", &file, "--out", &text]);
    assert!(run.status.success(), "{}", stderr(&run));
    let shown = home.json(&["sweep", "show", &text, "--top", "3", "--format", "json"]);
    let combinations = shown["combinations"].as_array().expect("combinations");
    assert_eq!((combinations.len(), &shown["selection"]["tried"]), (3, &6.into()), "{shown}");
    let best = &combinations[0]["train"];
    let means: Vec<f64> = combinations.iter().filter_map(|one| one["train"]["mean"].as_f64()).collect();
    assert!(means.windows(2).all(|pair| pair[0] >= pair[1]), "{means:?}");
    let values = &combinations[0]["parameters"];
    let of_best: Vec<f64> = rows(&folder)
        .iter()
        .filter(|row| values.as_object().expect("values").iter().all(|(key, value)| row[key] == *value))
        .map(|row| row["pnl"].parse().expect("a number"))
        .collect();
    let mean = of_best.iter().sum::<f64>() / of_best.len() as f64;
    assert!((mean - best["mean"].as_f64().expect("a mean")).abs() < 1e-9, "{of_best:?} and {best}");
    let lines = home.colo(&["sweep", "show", &text, "--sort", "max_drawdown", "--top", "2"]);
    assert!(
        stdout(&lines).contains("max_drawdown, mean") && stdout(&lines).contains("tried: 6 combinations"),
        "{}",
        stdout(&lines)
    );
    let wrong = home.colo(&["sweep", "show", &text, "--sort", "beauty"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", stderr(&wrong));
    let page = home.json(&["sweep", "report", &text, "--format", "json"]);
    let html = fs::read_to_string(page["file"].as_str().expect("a file")).expect("a page");
    let data = html.split("id=data>").nth(1).and_then(|rest| rest.split("</script>").next()).expect("data");
    let data: Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(data["rows"].as_array().map(Vec::len), Some(6), "{data}");
    assert!(!html.contains("http://") && !html.contains("https://"), "the page needs nothing else");
}

#[test]
fn a_page_opens_on_a_map_that_has_figures() {
    let home = Home::new();
    let sweep = SWEEP
        .replace("[2, 3]", "[2, 3]\nstrategies.takers.params.quantity = [1, 2]")
        .replace("seeds = [1, 2]", "seeds = [1]");
    let (_, file) = place(&home, PLATFORM, &sweep);
    let (folder, text) = out(&home, "out");
    assert!(home.colo(&["sweep", &file, "--out", &text]).status.success());
    let page = || -> Value {
        let answer = home.json(&["sweep", "report", &text, "--format", "json"]);
        let html = fs::read_to_string(answer["file"].as_str().expect("a file")).expect("a page");
        let data = html.split("id=data>").nth(1).and_then(|rest| rest.split("</script>").next());
        serde_json::from_str(data.expect("data")).expect("JSON")
    };
    assert_eq!(page()["open"], Value::Null, "the mean has all it needs");
    // As if each run with the second value of the third parameter had failed.
    let path = folder.join("done.jsonl");
    let lines = fs::read_to_string(&path).expect("lines");
    let failed: Vec<usize> = (0..12).filter(|run| run % 2 == 1).map(|run| run + 1).collect();
    let lines: Vec<String> = lines
        .lines()
        .map(|line| {
            let mut done: Value = serde_json::from_str(line).expect("JSON");
            if failed.contains(&(done["run"].as_u64().expect("a run") as usize)) {
                (done["state"], done["measures"]) = ("failed".into(), serde_json::json!({}));
            }
            done.to_string()
        })
        .collect();
    fs::write(&path, lines.join("\n") + "\n").expect("written");
    // The table is written anew.
    assert!(home.colo(&["sweep", "--resume", &text]).status.code() == Some(1));
    let open = page()["open"].clone();
    assert_eq!(open.as_array().map(|open| (open.len(), open[2].clone())), Some((3, 0.into())), "{open}");
}

#[test]
fn the_sweeps_that_come_with_the_project_are_good() {
    let home = Home::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/sweeps");
    let mut checked = 0;
    for entry in fs::read_dir(folder).expect("sweeps").flatten() {
        let file = entry.path().display().to_string();
        let day = home.state_path().join("day.csv");
        fs::write(&day, lobster(1_000_000)).expect("written");
        let days = format!("days.list=[\"{}\"]", day.display());
        // A recorded day is the user's own.
        let sets: &[&str] = if file.ends_with("simulated.toml") { &[] } else { &["--set", &days] };
        let answer = home.json(&[&["check", &file, "--format", "json"], sets].concat());
        assert!(answer["runs"].as_u64().is_some_and(|runs| runs > 1), "{answer}");
        checked += 1;
    }
    assert!(checked > 1, "{checked} sweeps");
}
