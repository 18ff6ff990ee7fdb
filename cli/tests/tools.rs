//! `colo journal …` on a small living platform, and on what is left when all of it was killed.

mod home;

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Output;

use journal::layout::registry as at;
use serde_json::Value;

use home::{Home, kill, number, stderr, stdout};

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn rows<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    value[name].as_array().unwrap_or_else(|| panic!("no list `{name}` in {value}"))
}

fn lines(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output).lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect()
}

/// A platform that runs until it is stopped, with fills.
fn platform() -> Home {
    let home = Home::new();
    let up = home.colo(&["up", "--stay", "--set", "md.count=0", "--set", "md.interval=5ms"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    home.wait_for("a fill", || number(&home.node("demo", "matching")["counters"]["fills"]) > 0);
    home
}

/// The whole way of an order, as `trace` tells it.
fn check_trace(trace: &Value) {
    let hops = rows(trace, "hops");
    for wanted in ["due", "published", "received", "ordered", "taken", "routed", "executed", "reported"] {
        assert!(hops.iter().any(|hop| hop["hop"] == wanted), "no hop `{wanted}` in {trace}");
    }
    let times: Vec<u64> = hops.iter().map(|hop| number(&hop["time_ns"])).collect();
    assert!(times.is_sorted(), "{trace}");
    assert!(hops.iter().any(|hop| hop["message"] == "Fill" && hop["fields"]["price"].is_string()), "{trace}");
    let stages = &trace["stages"];
    let sum = number(&stages["md_ns"]) + number(&stages["strategy_ns"]) + number(&stages["order_ns"]);
    assert_eq!(number(&stages["t2o_ns"]), sum, "{trace}");
    assert_eq!(number(&trace["overwritten"]), 0, "{trace}");
}

#[test]
fn a_living_platform_is_shown_and_left_alone() {
    let home = platform();
    let stat = home.json(&["journal", "stat", "md.quotes", "--interval", "200ms", "--format", "json"]);
    assert_eq!((&stat["rate"]["basis"], &stat["writer"]["state"]), (&"interval".into(), &"alive".into()));
    assert!(stat["rate"]["frames_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{stat}");
    assert_eq!(stat["backing"]["mapped_page_bytes"], 4096, "{stat}");
    assert_eq!(rows(&stat, "readers").len(), 10, "{stat}");
    let text = stdout(&home.colo(&["journal", "stat", "orders.takers-1", "--no-rate"]));
    assert!(text.contains("takers-1, process") && text.contains("td"), "{text}");

    let top = home.json(&["top", "--interval", "300ms", "--format", "json"]);
    assert_eq!((rows(&top, "nodes").len(), &top["totals"]["lost_bytes"]), (13, &0.into()), "{top}");
    assert!(top["totals"]["orders_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{top}");
    assert!(number(&top["totals"]["t2o"]["n"]) > 0, "{top}");
    let table = stdout(&home.colo(&["top", "--interval", "50ms"]));
    assert!(table.contains("takers-6") && table.contains("md.quotes") && !table.contains('\x1b'), "{table}");

    let verified = home.json(&["journal", "verify", "--format", "json"]);
    assert_eq!(verified["clean"], true, "{verified}");
    assert!(number(&verified["checked"]) > 1_000 && rows(&verified, "journals").len() > 20, "{verified}");

    check_trace(&home.json(&["journal", "trace", "--last", "--format", "json"]));
    let unknown = home.colo(&["journal", "trace", "6-1-4000000000"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stderr(&unknown).contains("the newest of takers-2 is 6-1-"), "{}", stderr(&unknown));
    let nobody = home.colo(&["journal", "trace", "900-1-1"]);
    assert!(stderr(&nobody).contains("no strategy sits in seat 900"), "{}", stderr(&nobody));

    // A reader that has seen enough ends a dump and a tail without a word.
    for verb in [["dump", "md.quotes"].as_slice(), &["tail", "md.quotes", "--follow"]] {
        let arguments = [&["journal"], verb, &["--format", "json"]].concat();
        let mut child = home.command(&arguments).spawn().expect("colo starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        assert!(line.contains("\"journal\":\"md.quotes\""), "{line}");
        let output = child.wait_with_output().expect("its end");
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()), "{verb:?}");
    }

    let clean = home.colo(&["journal", "clean", "demo"]);
    assert_eq!(clean.status.code(), Some(1));
    assert!(stderr(&clean).contains("lives: master (process "), "{}", stderr(&clean));
    let all = home.json(&["journal", "clean", "--format", "json"]);
    assert_eq!(all["instances"][0]["outcome"], "alive", "{all}");
    assert!(home.colo(&["down"]).status.success());
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_damaged_journal_is_named_and_hides_no_other() {
    let home = platform();
    let journals = |printed: &Value| -> Vec<String> {
        rows(printed, "journals").iter().map(|row| text(&row["journal"]).to_owned()).collect()
    };
    let whole = journals(&home.json(&["status", "--format", "json"]));
    // td's samples: `top` reads them as well.
    for (gone, damaged) in ["reports.makers-1", "td.samples"].into_iter().enumerate() {
        home.damage("demo", damaged);
        let status = home.json(&["status", "--format", "json"]);
        let top = home.json(&["top", "--interval", "50ms", "--format", "json"]);
        for printed in [&status, &top] {
            let named = &rows(printed, "damaged")[gone];
            assert_eq!((rows(printed, "damaged").len(), text(&named["journal"])), (gone + 1, damaged));
            assert!(text(&named["error"]).contains(&format!("{damaged}.ctl")), "{printed}");
            assert_eq!(journals(printed).len(), whole.len() - gone - 1, "{printed}");
            assert!(!journals(printed).iter().any(|journal| journal == damaged), "{printed}");
            assert_eq!(rows(printed, "nodes").len(), 13, "{printed}");
        }
        for verb in [["status"].as_slice(), &["top", "--interval", "50ms"]] {
            let output = home.colo(verb);
            let said = stdout(&output);
            assert!(output.status.success(), "{verb:?}: {}", stderr(&output));
            assert!(said.contains(&format!("damaged: journal {damaged}: ")), "{said}");
            assert!(said.contains("md.quotes"), "{said}");
        }
    }
    // Without its reports, nothing says whether a strategy has all of them.
    let down = home.colo(&["down"]);
    let printed = stdout(&down);
    assert_eq!(down.status.code(), Some(1), "{printed}");
    assert!(printed.contains("not finished: journal reports.makers-1 is damaged"), "{printed}");
    assert_eq!(printed.matches("not finished:").count(), 1, "{printed}");
}

#[test]
fn a_trace_says_which_hops_are_overwritten() {
    let home = Home::new();
    let small = ["--set", "md.count=0", "--set", "journal.capacity=64KiB"];
    let up = home.colo(&[&["up", "--stay"], small.as_slice()].concat());
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    home.wait_for("a report", || {
        let stat = home.json(&["journal", "stat", "reports.takers-1", "--no-rate", "--format", "json"]);
        number(&stat["frames"]) > 0
    });
    let tail = home.json(&["journal", "tail", "orders.takers-1", "-n", "1", "--format", "json"]);
    let order = text(&tail["frames"][0]["fields"]["order_id"]).to_owned();
    let trace = || home.colo(&["journal", "trace", &order, "--format", "json"]);
    // The ring of quotes is the first to come round, that of the orders the last.
    home.wait_for("the quote's end", || {
        let printed: Value = serde_json::from_str(&stdout(&trace())).unwrap_or_default();
        let hops = printed["hops"].as_array().into_iter().flatten();
        let mut published = hops.filter(|hop| hop["hop"] == "published");
        published.any(|hop| {
            assert!(hop["time_ns"].is_u64() && hop["journal"] == "md.quotes", "{printed}");
            hop["evidence"] == "overwritten" && number(&printed["overwritten"]) > 0
        })
    });
    home.wait_for("the order's end", || trace().status.code() == Some(5));
    assert!(stderr(&trace()).contains("is overwritten"), "{}", stderr(&trace()));
    assert!(home.colo(&["down"]).status.success());
}

#[test]
fn a_completion_script_may_be_read_in_part() {
    let home = Home::new();
    let mut child = home.command(&["completions", "bash"]).spawn().expect("colo starts");
    let mut line = String::new();
    BufReader::with_capacity(16, child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    assert_eq!(line, "_colo() {\n");
    let output = child.wait_with_output().expect("its end");
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    assert!(home.colo(&["completions", "bash"]).stdout.len() > 1 << 16, "or the pipe takes all of it");
}

#[test]
fn what_a_killed_platform_left_can_be_read_and_is_cleaned_away() {
    let home = platform();
    let status = home.json(&["status", "--format", "json"]);
    // Master first, so that nobody is started again.
    for node in rows(&status, "nodes") {
        kill(number(&node["pid"]) as u32, "KILL");
    }
    home.wait_for("the end of all", || {
        home.json(&["journal", "ls", "--format", "json"])["instances"][0]["alive"] == false
    });
    let trace = home.json(&["journal", "trace", "--last", "--format", "json"]);
    let order = text(&trace["order_id"]).to_owned();
    let again = home.json(&["journal", "trace", &order, "-i", "demo", "--format", "json"]);
    assert_eq!(trace["hops"], again["hops"]);

    // Every frame that was counted is dumped, and is a message: by name and by path.
    for journal in ["md.instruments", "md.quotes", "td.orders", "matching.executions", "reports.takers-1"] {
        let stat = home.json(&["journal", "stat", journal, "--format", "json"]);
        assert_eq!((&stat["writer"]["state"], &stat["rate"]["basis"]), (&"dead".into(), &"creation".into()));
        let path = text(&stat["path"]).to_owned();
        let by_name = lines(&home.colo(&["journal", "dump", journal, "--format", "json"]));
        let by_path = lines(&home.colo(&["journal", "dump", &path, "--format", "json"]));
        assert_eq!(by_name, by_path, "{journal}");
        // A writer may die between a frame's commit and its count.
        let counted = number(&stat["frames"]);
        assert!((counted..=counted + 1).contains(&(by_name.len() as u64)), "{journal}: {stat}");
        assert!(by_name.iter().all(|line| line["message"].is_string()), "{journal}");
    }
    let verify = home.colo(&["journal", "verify"]);
    assert_eq!(verify.status.code(), Some(0), "{}", stdout(&verify));

    // Damage to what is no journal is found as well.
    let instance = home.root.path().join("demo");
    let state = (at::RECORDS + 3 * at::RECORD_WORDS + at::STATE) * 8;
    let registry = OpenOptions::new().write(true).open(instance.join("registry")).expect("the registry");
    registry.write_all_at(&99_u64.to_le_bytes(), state as u64).expect("written");
    std::fs::write(instance.join("journals/orphan.ring"), "?").expect("written");
    let damaged = home.colo(&["journal", "verify"]);
    assert_eq!(damaged.status.code(), Some(4), "{}", stderr(&damaged));
    let said = stdout(&damaged);
    assert!(said.contains("state 99 in seat 3") && said.contains("orphan.ring"), "{said}");
    assert!(said.contains("2 findings: "), "{said}");

    let dry = home.json(&["journal", "clean", "--dry-run", "--format", "json"]);
    assert_eq!(dry["instances"][0]["outcome"], "would-remove", "{dry}");
    assert!(number(&dry["instances"][0]["bytes"]) > 1 << 20, "{dry}");
    let cleaned = home.colo(&["journal", "clean", "demo"]);
    assert!(cleaned.status.success() && stdout(&cleaned).contains("removed"), "{}", stderr(&cleaned));
    assert_eq!(home.left(), Vec::<PathBuf>::new());
    assert_eq!(home.colo(&["journal", "clean", "demo"]).status.code(), Some(69));
}
