//! What was said to be on disk is there: after kill -9 of the recorder, and after the host has gone down with all that
//! was in memory.
//!
//! A listener in this process reads the reports through the durable view, as strategies do: what it hears is
//! acknowledged. `COLO_KILLS` says how many kills, `COLO_CRASHES` how many crashes of the host, `COLO_SEED` from which
//! seed their moments and the damage are drawn.

#[path = "../recovery/audit.rs"]
#[allow(dead_code, reason = "of another test too")]
mod audit;
mod clock;
mod crash;
mod disk;
mod full;
mod listener;
#[path = "../recovery/model.rs"]
mod model;
mod names;
mod platform;
mod replayed;
mod several;
#[path = "../recovery/totals.rs"]
mod totals;
#[path = "../recovery/witness.rs"]
#[allow(dead_code, reason = "of another test too")]
mod witness;

use std::time::Duration;

use audit::{Announced, Audit};
use node::Counter;
use platform::{Chance, Platform, RECORDER};
use serde_json::Value;
use witness::{Records, Witness};

/// In CI; the long forms have more.
const KILLS: u64 = 12;
const CRASHES: u64 = 4;

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Holds all journals against each other and against the report of the stop.
fn audited(what: &str, platform: &Platform, records: &Records, status: &Value, report: &Value) -> Audit {
    let mut audit = audit::audit(records, &Announced::new());
    audit.totals(status, report, records);
    println!("{what}: {} faults; {audit}", audit.faults.len());
    let first: Vec<_> = audit.faults.iter().take(12).cloned().collect();
    assert!(
        first.is_empty(),
        "{what}: {} faults:\n{}\n{}",
        audit.faults.len(),
        first.join("\n"),
        platform.logs()
    );
    audit
}

#[test]
fn a_recorder_that_is_killed_again_and_again_has_every_frame_once() {
    let (kills, seed) = (from_environment("COLO_KILLS", KILLS), from_environment("COLO_SEED", 1));
    // A host that holds this process up for longer than a ring lasts is asked again.
    let witnessed = || {
        let platform = Platform::new("");
        let up = platform.start_up();
        platform.wait_for("the journals", || platform.journals().len() == platform::JOURNALS);
        let witness = Witness::join(&platform);
        platform.await_up(up);
        Some((platform, witness?))
    };
    let (platform, witness) = (0..5).find_map(|_| witnessed()).expect("a witness that comes in time");
    let listener = listener::listen(&platform.journals());
    std::thread::sleep(Duration::from_millis(200));
    let mut chance = Chance::new(seed);
    for _ in 0..kills {
        std::thread::sleep(Duration::from_millis(chance.below(90)));
        platform.kill_and_await(RECORDER);
    }
    std::thread::sleep(Duration::from_millis(300));
    let status = platform.status();
    let report = platform.down();
    let heard = listener.finish();
    let (records, _) = witness.finish();
    let runs = platform.runs();
    assert_eq!(runs.len(), 1, "one run of the platform, one recording: {runs:?}");
    let recorded = disk::records(&runs[0]);
    for (name, frames) in &records {
        let found = recorded.get(name).map_or(&[][..], Vec::as_slice);
        // Its own end is the one thing that it does not live to record.
        let own_end = usize::from(name == "master.events");
        disk::assert_same(name, found, &frames[..frames.len() - own_end]);
    }
    let heard = listener::assert_on_disk(&heard, &recorded);
    audited(
        &format!("{kills} kills of the recorder (seed {seed}), {heard} reports heard"),
        &platform,
        &records,
        &status,
        &report,
    );
}

#[test]
fn what_was_acknowledged_survives_crashes_of_the_host() {
    let (crashes, seed) = (from_environment("COLO_CRASHES", CRASHES), from_environment("COLO_SEED", 1));
    let mut platform = Platform::new("");
    let up = platform.start_up();
    platform.await_up(up);
    let mut chance = Chance::new(seed);
    let (mut merged, mut heard, mut lost) = (Records::new(), 0, 0);
    for crash in 0..crashes {
        let listener = listener::listen(&platform.journals());
        std::thread::sleep(Duration::from_millis(30 + chance.below(200)));
        platform.kill_everything();
        let told = listener.finish();
        lost += crash::lose_what_was_not_synced(&platform, &mut chance);
        platform.forget();
        let runs = platform.runs();
        disk::merge(&mut merged, disk::records(&recorder::recover::latest(&platform.recordings())));
        heard += listener::assert_on_disk(&told, &merged);
        println!("crash {}: {} runs, {heard} reports heard, {lost} bytes lost", crash + 1, runs.len());
        let up = platform.start_again();
        platform.await_up(up);
    }
    std::thread::sleep(Duration::from_millis(300));
    let (status, report) = (platform.status(), platform.down());
    disk::merge(&mut merged, disk::records(&recorder::recover::latest(&platform.recordings())));
    assert!(heard > 0, "nothing was acknowledged: this shows nothing");
    let what = format!("{crashes} crashes (seed {seed}), {heard} reports heard, {lost} bytes lost");
    let mut audit = audit::audit(&merged, &Announced::new());
    println!("{what}: {} faults; {audit}", audit.faults.len());
    assert!(audit.faults.is_empty(), "{what}: {:?}\n{}", audit.faults, platform.logs());
    // What was counted before the crashes counts on.
    audit.totals(&status, &report, &merged);
    assert!(audit.faults.is_empty(), "{what}: {:?}\n{}", audit.faults, platform.logs());
    assert_every_order_is_accounted_for(&report);
    platform.runs().iter().for_each(|run| disk::assert_whole(run));
}

/// The orders that have times, and those of which it is said why they have none, are all of them.
fn assert_every_order_is_accounted_for(report: &Value) {
    let count = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value} is no count"));
    let timed = count(&report["stages"]["t2o"]["n"]);
    let reasons = [
        "disordered_samples",
        "orders_without_quote",
        "orders_of_old_quotes",
        "orders_before_recovery",
        "orders_not_taken",
    ];
    let untimed: u64 = reasons.iter().map(|name| count(&report[*name])).sum();
    assert_eq!(timed + untimed, count(&report["orders"]), "{report}");
    assert!(count(&report["orders_before_recovery"]) > 0, "{report}");
    assert_eq!(count(&report["orders_not_taken"]), 0, "td read all of them before it stopped: {report}");
}

#[test]
fn a_platform_that_is_recovered_twice_has_the_totals_and_positions_of_all_three_runs() {
    // A ring goes round many times in each run, so that what comes back is not all that was.
    let mut platform = Platform::new("");
    platform.await_up(platform.start_up());
    let mut merged = Records::new();
    for _ in 0..2 {
        let fills = platform.counter("matching", Counter::Fills);
        platform.wait_for("trades", || platform.counter("matching", Counter::Fills) > fills + 1_000);
        platform.kill_everything();
        platform.forget();
        disk::merge(&mut merged, disk::records(platform.runs().last().expect("a run")));
        platform.await_up(platform.start_again());
    }
    let (status, report) = (platform.status(), platform.down());
    let runs = platform.runs();
    assert_eq!(runs.len(), 3, "{runs:?}");
    disk::merge(&mut merged, disk::records(&runs[2]));
    audited("recovered twice", &platform, &merged, &status, &report);
    assert_every_order_is_accounted_for(&report);
    for run in &runs {
        disk::assert_whole(run);
        let (code, said) = platform.run(&["journal", "verify", "--recording", &run.display().to_string()]);
        assert_eq!(code, Some(0), "{said}");
    }
    // The recording of a recovered run has all that a strategy was given there.
    let run = runs[1].display().to_string();
    let (code, said) = platform.run(&["replay", &run, "--strategy", "takers-1"]);
    assert_eq!(code, Some(0), "{said}");
}

/// The cursors of those that ended are in the recording too: a recovery that began at the first frame of a ring would hand them
/// what they have dealt with, once more.
#[test]
fn what_was_read_before_a_good_stop_is_not_read_again_after_a_recovery() {
    let platform = Platform::new("");
    platform.await_up(platform.start_up());
    platform.wait_for("fills", || platform.counter("matching", Counter::Fills) > 50);
    platform.down();
    let folder = platform.recordings().display().to_string();
    let (code, text) = platform.run(&["recover", &folder, "--format", "json"]);
    assert_eq!(code, Some(0), "{text}");
    let report: Value = serde_json::from_str(text.lines().next().unwrap_or_default())
        .or_else(|_| serde_json::from_str(&text))
        .expect("its report");
    let journals = report["journals"].as_array().expect("journals");
    let row = |name: &str| journals.iter().find(|row| row["journal"] == name).expect("a journal");
    for (name, reader) in [
        ("td.orders", "matching"),
        ("matching.executions", "td"),
        ("matching.executions", "ledger"),
        ("orders.takers-1", "td"),
        ("orders.makers-2", "td"),
    ] {
        let row = row(name);
        let readers = row["readers"].as_array().expect("readers");
        let reader = readers.iter().find(|found| found["node"] == reader);
        let position = reader.unwrap_or_else(|| panic!("{name}: {row}"))["position"].as_u64();
        assert_eq!(position, row["end"].as_u64(), "{name}: {row}");
    }
}
