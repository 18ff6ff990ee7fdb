//! A service from outside, end to end: a table of the platform file and its own program are all that it takes.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

mod home;
// What a reader of the documentation sees, and what runs here: one text.
#[path = "../../node/examples/count_frames.rs"]
mod count_frames;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use home::{Home, kill, number, stderr};

/// The test program, or the service that its platforms start: that is this program too.
fn main() -> ExitCode {
    if std::env::var_os(node::NODE_VARIABLE).is_some() {
        return count_frames::main();
    }
    let tests: [(&str, fn()); 3] = [
        ("it_reads_every_journal_whole", it_reads_every_journal_whole),
        (
            "it_is_shown_and_started_again_and_stops_in_good_order",
            it_is_shown_and_started_again_and_stops_in_good_order,
        ),
        (
            "it_stops_when_nobody_trades_and_before_the_books_without_master_too",
            it_stops_when_nobody_trades_and_before_the_books_without_master_too,
        ),
    ];
    let trials = tests.map(|(name, test)| {
        libtest_mimic::Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials.into()).exit_code()
}

/// A platform with a service that is this program.
fn platform(folder: &Path, count: u32, more: &str) -> String {
    let file = folder.join("counted.toml");
    let text = format!(
        "[platform]\ninstance = 'counted'\n[md]\ninstruments = 2\ninterval = '1ms'\ncount = {count}\n\
         [strategies]\ncount = 2\n\
         [[service]]\nname = 'counter'\nprogram = '{}'\nparams = {{ totals = '{}' }}\n{more}\n",
        std::env::current_exe().unwrap().display(),
        folder.join("totals").display(),
    );
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// Frames by journal.
fn totals(folder: &Path) -> BTreeMap<String, u64> {
    let text = std::fs::read_to_string(folder.join("totals")).expect("the service wrote its totals");
    let line = |line: &str| {
        let (journal, frames) = line.split_once(' ').unwrap();
        (journal.to_owned(), frames.parse().unwrap())
    };
    text.lines().map(line).collect()
}

fn it_reads_every_journal_whole() {
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let file = platform(folder.path(), 300, "reads = [{ journal = 'all', kind = 'gated' }]");
    let report = home.json(&["up", &file, "--format", "json"]);
    let totals = totals(folder.path());
    let of = |family: &str| -> u64 {
        let its = totals.iter().filter(|(journal, _)| journal.starts_with(family));
        its.map(|(_, frames)| frames).sum()
    };
    let asked = ["orders", "cancels", "replaces"].map(|name| number(&report[name])).iter().sum::<u64>();
    assert!(number(&report["quotes"]) > 0 && asked > 0, "{report}");
    assert_eq!(of("orders."), asked, "{totals:?}\n{}", home.logs());
    assert!(of("md.quotes") >= number(&report["quotes"]), "{totals:?}");
    for journal in
        ["master.events", "md.instruments", "td.orders", "td.samples", "matching.executions", "ledger.state"]
    {
        assert!(of(journal) > 0, "{journal} of {totals:?}");
    }
    assert!(of("reports.strategy-1") > 0 && of("reports.strategy-2") > 0, "{totals:?}");
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

fn it_is_shown_and_started_again_and_stops_in_good_order() {
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let file = platform(folder.path(), 0, "reads = ['all']");
    let up = home.colo(&["up", &file, "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let counter = || home.node("counted", "counter");
    assert_eq!(
        (&counter()["kind"], &counter()["state"]),
        (&Value::from("observer"), &Value::from("running"))
    );
    let td = number(&home.node("counted", "td")["pid"]);
    let first = number(&counter()["pid"]);
    kill(first as u32, "KILL");
    home.wait_for("its second start", || {
        let counter = counter();
        counter["state"] == "running" && number(&counter["starts"]) == 2 && number(&counter["pid"]) != first
    });
    let before = number(&counter()["counters"]["frames_read"]);
    home.wait_for("that it reads on", || number(&counter()["counters"]["frames_read"]) > before);
    assert_eq!(number(&home.node("counted", "td")["pid"]), td, "nobody else was started again");
    let down = home.colo(&["down", "counted"]);
    assert!(down.status.success(), "{}\n{}", stderr(&down), home.logs());
    assert!(totals(folder.path())["md.quotes"] > 0);
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

/// What master stops in which order, `colo down` stops in the same order when there is no master.
fn it_stops_when_nobody_trades_and_before_the_books_without_master_too() {
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let file = platform(folder.path(), 0, "reads = [{ journal = 'all', kind = 'gated' }]");
    let up = home.colo(&["up", &file, "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    home.wait_for("orders", || number(&home.node("counted", "matching")["counters"]["orders"]) > 10);
    kill(number(&home.node("counted", "master")["pid"]) as u32, "KILL");
    let down = home.colo(&["down", "counted"]);
    assert!(down.status.success(), "{}\n{}", stderr(&down), home.logs());
    let totals = totals(folder.path());
    // It has seen what the last to trade wrote last: every request that td passed on was answered.
    assert!(totals["td.orders"] > 10, "{totals:?}");
    assert!(totals["matching.executions"] >= totals["td.orders"], "{totals:?}");
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}
