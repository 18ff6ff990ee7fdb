//! The folder of a run: what stands in it, that it repeats, and what becomes of it when the run is killed or the disk is full.

mod home;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use home::{Home, kill, number, stderr, stdout};

/// Makers and takers, alone and in a host.
const PLATFORM: &str = r#"
[platform]
instance = "kept"
deterministic = true

[md]
source = "sim"
instruments = 4
interval = "1ms"
count = 400
seed = 11
generator = "timed"
readers = "gated"

[td]
price_band = 0

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
limits = { max_position = 2 }

[[strategies.group]]
name = "hosted"
program = "builtin:taker"
count = 3
instruments = "all"
host = { name = "desk" }
params = { max_position = 20 }
"#;

/// Tables that repeat.
const TABLES: [&str; 6] =
    ["orders.csv", "fills.csv", "equity.csv", "positions.csv", "prices.csv", "strategies.csv"];

fn file(home: &Home) -> String {
    let path = home.state_path().join("kept.toml");
    fs::write(&path, PLATFORM).expect("written");
    path.display().to_string()
}

fn place(home: &Home, name: &str) -> (PathBuf, String) {
    let path = home.state_path().join(name);
    let text = path.display().to_string();
    (path, text)
}

fn run(home: &Home, name: &str, more: &[&str]) -> (PathBuf, Value) {
    let (path, text) = place(home, name);
    let file = file(home);
    let arguments = [&["up", &file, "--out", &text, "--format", "json"], more].concat();
    let up = home.colo(&arguments);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    assert!(stderr(&up).contains(&format!("the run is in {text}")), "{}", stderr(&up));
    (path, serde_json::from_str(&stdout(&up)).expect("a report"))
}

fn manifest(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("run.json")).expect("a manifest");
    serde_json::from_str(&text).expect("whole")
}

/// Rows by column.
fn rows(folder: &Path, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    lines.map(|cells| head.iter().cloned().zip(cells).collect()).collect()
}

fn parsed<T: std::str::FromStr>(row: &BTreeMap<String, String>, column: &str) -> T {
    row[column].parse().unwrap_or_else(|_| panic!("{column} is `{}`", row[column]))
}

/// An exact decimal of up to nine places.
fn billionths(text: &str) -> i128 {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    format!("{whole}{part:0<9}").parse().unwrap_or_else(|_| panic!("`{text}` is no decimal"))
}

/// Sums of the tables against what `up` has printed.
fn agrees(folder: &Path, report: &Value) {
    let (orders, fills) = (rows(folder, "orders.csv"), rows(folder, "fills.csv"));
    assert_eq!(orders.len() as u64, number(&report["orders"]), "a row an order");
    assert_eq!(fills.len() as u64, number(&report["fills"]), "a row a fill");
    let rejected = orders.iter().filter(|row| row["status"] == "rejected");
    assert!(rejected.clone().all(|row| !row["reason"].is_empty()), "each says why");
    assert_eq!(rejected.count() as u64, number(&report["rejected"]));
    let strategies = rows(folder, "strategies.csv");
    let printed = report["strategies"].as_array().expect("strategies");
    assert_eq!(strategies.len(), printed.len());
    for (row, printed) in strategies.iter().zip(printed) {
        let name = &row["strategy"];
        assert_eq!(*name, printed["name"]);
        for column in
            ["orders", "rejected", "cancels", "cancels_rejected", "replaces", "replaces_rejected", "fills"]
        {
            assert_eq!(parsed::<u64>(row, column), number(&printed[column]), "{name}: {column}");
        }
        assert_eq!(Some(parsed::<i64>(row, "position")), printed["position"].as_i64(), "{name}");
        let open = orders.iter().filter(|order| order["strategy"] == *name && order["ended_ns"].is_empty());
        assert_eq!(parsed::<usize>(row, "open"), open.count(), "{name}");
        let pnl = printed["pnl"].as_f64().expect("pnl");
        assert!((parsed::<f64>(row, "pnl") - pnl).abs() <= 1e-6, "{name}: {} and {pnl}", row["pnl"]);
        let exact = printed["pnl_exact"].as_str().expect("the exact amount");
        assert_eq!(billionths(&row["pnl"]), billionths(exact), "{name}");
        assert_eq!(row["sharpe_sum"], row["pnl_net"], "{name}: changes of equity add up to what was gained");
        // What fills say of themselves, summed anew.
        let own = || fills.iter().filter(|fill| fill["strategy"] == *name);
        let realised: f64 = own().map(|fill| parsed::<f64>(fill, "realised")).sum();
        assert!((realised - parsed::<f64>(row, "realised")).abs() < 1e-6, "{name}: {realised}");
        let signed = |fill: &BTreeMap<String, String>| {
            parsed::<i64>(fill, "quantity") * if fill["side"] == "buy" { 1 } else { -1 }
        };
        assert_eq!(own().map(signed).sum::<i64>(), parsed::<i64>(row, "position"), "{name}");
        let last = rows(folder, "equity.csv").into_iter().rfind(|row| row["strategy"] == *name);
        assert_eq!(last.expect("its equity")["equity"], row["pnl"], "{name}: the last sample is the end");
    }
}

#[test]
fn a_run_in_lock_step_gives_the_same_tables_again_in_one_process_and_over_many() {
    let home = Home::new();
    let (one, report) = run(&home, "one", &[]);
    assert_eq!(home.left(), Vec::<PathBuf>::new());
    agrees(&one, &report);
    assert!(number(&report["rejected"]) > 0 && number(&report["fills"]) > 1_000, "{report}");
    let said = manifest(&one);
    assert_eq!((&said["state"], &said["complete"]), (&Value::from("finished"), &Value::from(true)));
    assert_eq!(said["mode"], "one-process");
    assert_eq!(said["report"]["strategies"], report["strategies"]);
    for listed in said["files"].as_array().expect("files") {
        let path = one.join(listed["name"].as_str().expect("a name"));
        let text = fs::read_to_string(&path).expect("listed, so there");
        assert_eq!(text.len() as u64, number(&listed["bytes"]), "{}", path.display());
        assert_eq!(text.lines().count() as u64 - 1, number(&listed["rows"]), "{}", path.display());
        let columns = listed["columns"].as_array().expect("columns").iter();
        let names: Vec<&str> = columns.filter_map(|column| column["name"].as_str()).collect();
        assert_eq!(text.lines().next(), Some(names.join(",").as_str()));
    }
    let (again, _) = run(&home, "again", &[]);
    // td may take the requests of two processes in another order once in a while (see the test of backtests): tried again.
    let mut differences = Vec::new();
    let same = (0..4).any(|number| {
        let (many, report) = run(&home, &format!("many-{number}"), &["--set", "platform.one_process=false"]);
        agrees(&many, &report);
        let differs: Vec<&str> = different(&one, &many);
        differences.extend(differs.iter().map(|name| format!("{name} of {number}")));
        differs.is_empty()
    });
    assert_eq!(different(&one, &again), Vec::<&str>::new(), "one process repeats itself");
    assert!(same, "{differences:?}");

    let (one, again) = (one.display().to_string(), again.display().to_string());
    let compared = home.json(&["runs", "compare", &one, &again, "--format", "json"]);
    assert_eq!(compared["comparison"]["verdict"], "same", "{compared}");
    let other = run(&home, "other", &["--set", "md.seed=12"]).0.display().to_string();
    let compare = home.colo(&["runs", "compare", &one, &other]);
    assert_eq!(compare.status.code(), Some(4), "{}", stdout(&compare));
    let text = stdout(&compare);
    assert!(text.contains("md.seed") && text.contains("orders.csv: differs from line"), "{text}");
}

fn different(one: &Path, other: &Path) -> Vec<&'static str> {
    let text = |folder: &Path, name: &str| fs::read(folder.join(name)).expect("a table");
    TABLES.into_iter().filter(|name| text(one, name) != text(other, name)).collect()
}

#[test]
fn a_live_run_and_one_that_stays_have_folders_whose_sums_agree_with_the_report() {
    let home = Home::new();
    let (live, text) = place(&home, "live");
    let live_run = ["up", "--set", "md.count=300", "--out", &text, "--format", "json"];
    let up = home.colo(&live_run);
    assert!(up.status.success(), "{}", stderr(&up));
    let report: Value = serde_json::from_str(&stdout(&up)).expect("a report");
    let said = manifest(&live);
    assert_eq!(said["mode"], "live");
    match said["complete"] == true {
        true => agrees(&live, &report),
        false => println!("the host was too busy to read along: {}", said["missed"]),
    }
    assert!(live.join("logs/master.log").exists(), "what its nodes said");

    let (stayed, text) = place(&home, "stayed");
    let arguments = ["up", "-i", "stays", "--set", "md.count=150", "--stay", "--out", &text];
    assert!(home.colo(&arguments).status.success());
    assert!(!stayed.exists(), "it is written when the platform goes down");
    home.wait_for("the source's end", || home.node("stays", "md")["state"] == "finished");
    std::thread::sleep(Duration::from_millis(300));
    let down = home.colo(&["down", "stays", "--format", "json"]);
    assert!(down.status.success(), "{}", stderr(&down));
    agrees(&stayed, &serde_json::from_str(&stdout(&down)).expect("a report"));

    // Two live runs: a sentence for each measure, and no lock-step.
    let (again, text) = place(&home, "again");
    assert!(home.colo(&["up", "--set", "md.count=300", "--out", &text]).status.success());
    let (live, again) = (live.display().to_string(), again.display().to_string());
    let compared = home.json(&["runs", "compare", &live, &again, "--format", "json"]);
    let measures = compared["comparison"]["measures"].as_array().expect("measures").clone();
    assert!(measures.iter().any(|measure| measure["name"] == "t2o_us"), "{compared}");
}

#[test]
fn a_run_that_is_killed_leaves_a_folder_that_says_so_and_can_be_read() {
    let home = Home::new();
    let (folder, text) = place(&home, "runs/killed");
    // Without an end.
    let mut command = home.command(&["up", "--set", "md.count=0", "--out", &text]);
    let mut child = command.spawn().expect("colo starts");
    let rows = |name| fs::read_to_string(folder.join(name)).map_or(0, |text| text.lines().count());
    home.wait_for("rows on disk", || rows("orders.csv") > 100 && rows("equity.csv") > 10);
    let root = place(&home, "runs").1;
    let ls = || home.json(&["runs", "ls", "--dir", &root, "--format", "json"])["runs"][0].clone();
    assert_eq!(ls()["state"], "running");
    let clean = ["runs", "clean", "--dir", &root, "--keep-for", "1ns", "--format", "json"];
    assert_eq!(number(&home.json(&clean)["left"]), 1, "one that goes on is not removed");
    kill(child.id(), "KILL");
    child.wait().expect("its end");
    let _ = home.colo(&["down", "demo", "--force"]);
    assert_eq!(ls()["state"], "unfinished");
    let show = home.colo(&["runs", "show", &text]);
    assert!(stdout(&show).contains("unfinished") && show.status.success(), "{}", stdout(&show));
    // Cut in the middle of a row, as a kill may leave it.
    let cut = fs::read_to_string(folder.join("equity.csv")).expect("a table");
    fs::write(folder.join("equity.csv"), &cut[..cut.len() - 9]).expect("written");
    let page = home.colo(&["runs", "report", &text]);
    assert!(page.status.success(), "{}", stderr(&page));
    let html = fs::read_to_string(folder.join("report.html")).expect("a page");
    assert!(html.contains("This run is unfinished") && html.contains("cut off"), "its page says so");

    let compare = home.colo(&["runs", "compare", &text, &text]);
    assert!(stdout(&compare).contains("it was killed before its end"), "{}", stdout(&compare));

    fs::write(folder.join("run.json"), "{ \"format\": \"colo-run\", ").expect("written");
    assert_eq!(ls()["state"], "damaged");
    assert_eq!(number(&home.json(&clean)["left"]), 1, "what is not understood stays");
    let show = home.colo(&["runs", "show", &text]);
    assert!(!show.status.success() && stderr(&show).contains("half written"), "{}", stderr(&show));
}

#[test]
fn the_page_needs_nothing_else_and_old_runs_go_without_what_is_none() {
    let home = Home::new();
    let (first, text) = place(&home, "runs/first");
    let _ = run(&home, "runs/first", &[]);
    let page = home.json(&["runs", "report", &text, "--format", "json"]);
    let html = fs::read_to_string(first.join("report.html")).expect("a page");
    assert_eq!(html.len() as u64, number(&page["bytes"]));
    for outside in ["src=", "href=\"http", "@import", "url(", "http://", "https://"] {
        assert!(!html.contains(outside), "{outside} points outside of the file");
    }
    for wanted in
        ["Equity", "Drawdown", "Fills on SIM001", "Positions", "Latency", "position-limit", "makers-1"]
    {
        assert!(html.contains(wanted), "no {wanted}");
    }
    assert!(html.len() < 1_000_000, "{} bytes", html.len());

    let second = run(&home, "runs/second", &[]).0;
    let kept = run(&home, "runs/kept", &[]).0;
    fs::write(kept.join("keep"), "").expect("written");
    let foreign = home.state_path().join("runs/notes");
    fs::create_dir(&foreign).expect("a folder");
    fs::write(foreign.join("run.json"), "{ \"format\": \"another\" }").expect("written");
    let root = place(&home, "runs").1;
    let dry = ["runs", "clean", "--dir", &root, "--keep-for", "1ns", "--dry-run", "--format", "json"];
    let plan = home.json(&dry);
    assert_eq!(plan["removed"].as_array().map(Vec::len), Some(2), "{plan}");
    assert!(first.exists() && second.exists(), "a dry run removes nothing");
    let _ = home.json(&["runs", "clean", "--dir", &root, "--keep-for", "1ns", "--format", "json"]);
    assert!(!first.exists() && !second.exists() && kept.exists() && foreign.exists());
}

#[test]
fn where_the_folder_goes_is_said_by_arguments_file_environment_and_custom_in_this_order() {
    let home = Home::new();
    let file = file(&home);
    let (here, _) = place(&home, "here");
    fs::create_dir(&here).expect("a folder");
    let up = |more: &[&str], variable: Option<&str>| {
        let mut command = home.command(&[&["up", &file, "--set", "md.count=20"], more].concat());
        command.current_dir(&here).env_remove("COLO_RUNS");
        variable.iter().for_each(|path| {
            command.env("COLO_RUNS", path);
        });
        command.output().expect("colo runs")
    };
    let count = |name: &str| fs::read_dir(here.join(name)).map_or(0, Iterator::count);
    assert!(up(&[], None).status.success());
    assert_eq!(count("runs"), 1, "by default in `runs` here");
    assert!(up(&["--no-out"], None).status.success() && up(&[], Some("")).status.success());
    assert!(up(&["--set", "platform.runs=\"\""], None).status.success());
    assert_eq!(count("runs"), 1, "and not where somebody wants none");
    assert!(up(&[], Some("elsewhere")).status.success());
    assert!(up(&["--set", "platform.runs=\"chosen\""], Some("elsewhere")).status.success());
    assert_eq!((count("elsewhere"), count("chosen")), (1, 1));
    assert!(
        up(&["--set", "platform.runs=\"chosen\"", "--set", "platform.runs_keep_bytes=\"1KiB\""], None)
            .status
            .success()
    );
    assert_eq!(count("chosen"), 1, "the older one has gone, the new one stays");
    let taken = up(&["--out", "runs"], None);
    assert_eq!(taken.status.code(), Some(2));
    assert!(stderr(&taken).contains("not empty"), "{}", stderr(&taken));
}

#[test]
fn a_disk_that_is_full_ends_the_folder_and_not_the_run() {
    let home = Home::new();
    let small = home.state_path().join("small");
    fs::create_dir(&small).expect("a folder");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=900k", "tmpfs"])
        .arg(&small)
        .output()
        .is_ok_and(|output| output.status.success());
    if !mounted {
        return println!("skipped: this user may not mount a small disk");
    }
    let folder = small.join("run");
    let up = home.colo(&["up", &file(&home), "--out", &folder.display().to_string(), "--format", "json"]);
    let (code, said, printed) = (up.status.code(), stderr(&up), stdout(&up));
    let manifest = fs::read_to_string(folder.join("run.json"));
    let _ = Command::new("umount").arg(&small).status();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the run's folder is not whole") && said.contains("No space left"), "{said}");
    let report: Value = serde_json::from_str(&printed).expect("the report all the same");
    assert!(number(&report["fills"]) > 1_000, "{report}");
    let manifest: Value = serde_json::from_str(&manifest.expect("a manifest")).expect("whole");
    assert_eq!(manifest["complete"], false);
    assert!(manifest["problems"].to_string().contains("No space left"), "{manifest}");
}

#[test]
fn a_strategy_alone_is_no_run_and_takes_no_folder() {
    let home = Home::new();
    let replay = home.colo(&["replay", "somewhere", "--strategy", "takers-1", "--out", "there"]);
    assert_eq!(replay.status.code(), Some(2));
    assert!(stderr(&replay).contains("cannot be used with"), "{}", stderr(&replay));
}

#[test]
fn tables_that_are_not_what_the_run_wrote_are_named_and_not_compared() {
    let home = Home::new();
    let (whole, text) = place(&home, "whole");
    let _ = run(&home, "whole", &[]);
    let (damaged, other) = place(&home, "damaged");
    let copied = || {
        let _ = fs::remove_dir_all(&damaged);
        fs::create_dir(&damaged).expect("a folder");
        for name in TABLES.iter().chain(&["t2o.csv", "run.json", "platform.json"]) {
            fs::copy(whole.join(name), damaged.join(name)).expect("copied");
        }
    };
    copied();
    let same = home.colo(&["runs", "compare", &text, &other]);
    assert!(same.status.success(), "{}", stdout(&same));
    let fills = fs::read_to_string(whole.join("fills.csv")).expect("a table");
    let mut swapped: Vec<&str> = fills.lines().collect();
    swapped.swap(1, 2);
    let swapped = swapped.join("\n") + "\n";
    for (what, text_of) in
        [("empty", String::new()), ("cut", fills[..fills.len() / 2].to_owned()), ("swapped", swapped)]
    {
        copied();
        fs::write(damaged.join("fills.csv"), text_of).expect("written");
        for verb in ["show", "report"] {
            let said = home.colo(&["runs", verb, &other]);
            assert_eq!(said.status.code(), Some(4), "{what}, {verb}: {}", stderr(&said));
            assert!(stderr(&said).contains("fills.csv"), "{what}, {verb}: {}", stderr(&said));
        }
        let page = fs::read_to_string(damaged.join("report.html")).expect("a page");
        assert!(page.contains("not as the run left it"), "{what}");
        let compare = home.colo(&["runs", "compare", &text, &other]);
        assert_eq!(compare.status.code(), Some(1), "{what}: {}", stdout(&compare));
    }
    copied();
    fs::remove_file(damaged.join("equity.csv")).expect("removed");
    let show = home.colo(&["runs", "show", &other]);
    assert!(stderr(&show).contains("equity.csv is missing"), "{}", stderr(&show));

    // What a link leads to is not written to.
    copied();
    let precious = home.state_path().join("precious");
    fs::write(&precious, "mine").expect("written");
    std::os::unix::fs::symlink(&precious, damaged.join("report.html")).expect("a link");
    assert!(home.colo(&["runs", "report", &other]).status.success());
    assert_eq!(fs::read_to_string(&precious).expect("still there"), "mine");
}

#[test]
fn a_run_that_is_read_late_says_what_it_does_not_know_and_when_it_began() {
    let home = Home::new();
    let (folder, text) = place(&home, "late");
    let sets = ["--set", "md.interval=100us", "--set", "md.count=9000", "--set", "journal.capacity=64KiB"];
    let up = home.colo(&[&["up", "--stay"][..], &sets].concat());
    assert!(up.status.success(), "{}", stderr(&up));
    home.wait_for("the source's end", || home.node("demo", "md")["state"] == "finished");
    std::thread::sleep(Duration::from_secs(2));
    let down = home.colo(&["down", "--out", &text, "--format", "json"]);
    let report: Value = serde_json::from_str(&stdout(&down)).expect("a report");
    let said = manifest(&folder);
    let missed = said["missed"].to_string();
    assert!(missed.contains("orders."), "the rings went round: {missed}");
    let statuses: Vec<String> = rows(&folder, "orders.csv").iter().map(|row| row["status"].clone()).collect();
    assert!(statuses.iter().all(|status| status != "unanswered"), "what was not read is not unanswered");
    for (row, printed) in rows(&folder, "strategies.csv").iter().zip(report["strategies"].as_array().unwrap())
    {
        assert_eq!(parsed::<u64>(row, "orders"), number(&printed["orders"]));
        assert_eq!(parsed::<u64>(row, "fills"), number(&printed["fills"]));
        assert_eq!((row["fill_ratio"].as_str(), row["sharpe"].as_str()), ("", ""));
    }
    let time = |key: &str| humantime::parse_rfc3339(said[key].as_str().expect("a time")).expect("a time");
    let lasted = time("ended").duration_since(time("started")).expect("in order").as_secs_f64();
    assert!(lasted >= 2.0 && lasted >= said["seconds"].as_f64().expect("seconds") - 0.5, "{lasted}");
    let ls = stdout(&home.colo(&["runs", "ls", "--dir", &home.state_path().display().to_string()]));
    assert!(ls.contains("in part"), "{ls}");
}

/// JSON holds UTF-8 alone, and a path need not be that.
#[test]
fn folders_whose_names_are_not_utf_8_are_shown_and_used() {
    use std::os::unix::ffi::OsStrExt;
    let home = Home::new();
    let file = file(&home);
    let odd = home.state_path().join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    fs::create_dir(&odd).expect("a folder");
    let inside = |arguments: &[&str]| {
        home.command(arguments).current_dir(&odd).env_remove("COLO_RUNS").output().expect("colo runs")
    };
    // In the current folder, which the platform's file names.
    fs::copy(&file, odd.join("kept.toml")).expect("a copy");
    let up = inside(&["up", "kept.toml", "--out", "runs/one"]);
    assert!(up.status.success(), "{}", stderr(&up));
    let verbs: [&[&str]; 9] = [
        &["check", "kept.toml"],
        &["explain", "kept.toml"],
        &["runs", "ls"],
        &["runs", "show"],
        &["runs", "report"],
        &["runs", "clean", "--dry-run", "--keep-bytes", "1B"],
        &["sweep", "ls"],
        &["journal", "verify", "--recording", "."],
        &["recover", "."],
    ];
    for verb in verbs {
        let output = inside(&[verb, &["--format", "json"]].concat());
        let (code, said) = (output.status.code(), stderr(&output));
        assert!(!said.contains("panicked"), "{verb:?}: {said}");
        match code {
            Some(0) => drop(serde_json::from_slice::<Value>(&output.stdout).expect("an object")),
            // There is no recording.
            _ => assert!(
                matches!(verb[0], "journal" | "recover") && said.starts_with("colo: "),
                "{verb:?} ends with {code:?}: {said}"
            ),
        }
    }
    let listed: Value = serde_json::from_slice(&inside(&["runs", "ls", "--format", "json"]).stdout).unwrap();
    assert_eq!(listed["runs"].as_array().map(Vec::len), Some(1), "{listed}");

    // The environment names it.
    let custom = home.state_path().join(std::ffi::OsStr::from_bytes(b"runs\xfe"));
    let up = home.command(&["up", &file]).env("COLO_RUNS", &custom).output().expect("colo runs");
    assert!(up.status.success(), "{}", stderr(&up));
    assert_eq!(fs::read_dir(&custom).expect("the folder of runs").count(), 1);
}
