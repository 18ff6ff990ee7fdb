//! Several recorders, each with journals and a folder of its own: one is killed, one has nothing to do, and the run comes
//! back from all of them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use node::Counter;
use recorder::read::Recording;
use recorder::recover::{Recovery, latest};
use wire::AnyMessage;

use crate::audit::{self, Announced};
use crate::platform::{Platform, RECORDER};
use crate::witness::{Record, Records};
use crate::{disk, listener};

/// What leads to reports has one recorder, as `colo check` advises; the market has another, and the third has a journal in
/// which nothing happens.
const OTHERS: &str = r#"[[recorder]]
name = "market"
path = "market"
journals = ["md.*"]
segment = "1MiB"
restart = "on-failure"
restart_max = 1000000
restart_backoff = "0s"

[[recorder]]
name = "events"
path = "events"
journals = ["master.events"]
restart = "on-failure"
restart_max = 1000000
restart_backoff = "0s"

[[recorder]]
name = "recorder""#;

fn folders(platform: &Platform) -> Vec<PathBuf> {
    vec![platform.recordings(), platform.beside("market"), platform.beside("events")]
}

fn end(folder: &Path) -> u64 {
    Recording::open(&latest(folder)).map_or(0, |recording| recording.end().time)
}

/// What a folder's latest run holds up to a time.
fn records_until(folder: &Path, time: u64) -> Records {
    let recording = Recording::open_until(&latest(folder), time).expect("a recording");
    let mut records = Records::new();
    for journal in recording.description().journals.iter().filter(|journal| journal.name != "td.samples") {
        let held = records.entry(journal.name.clone()).or_default();
        let mut frames = recording.frames(journal, 0);
        while let Some(frame) = frames.next().expect("no frame is missing") {
            let message = AnyMessage::decode(frame.message_id, frame.payload).expect("a message");
            held.push(Record { position: frame.position, time: frame.time, topic: frame.topic, message });
        }
    }
    records
}

#[test]
fn a_run_with_several_recorders_comes_back_from_all_of_them_although_one_was_killed_and_one_was_idle() {
    let mut platform = Platform::with("", &[("[[recorder]]\nname = \"recorder\"", OTHERS)]);
    platform.await_up(platform.start_up());
    let listener = listener::listen(&platform.journals());
    platform.wait_for("fills", || platform.counter("matching", Counter::Fills) > 20);
    for victim in ["market", RECORDER, "market", "events"] {
        platform.kill_and_await(victim);
        let fills = platform.counter("matching", Counter::Fills);
        platform.wait_for("trades after that", || platform.counter("matching", Counter::Fills) > fills + 5);
    }
    // Nothing happens in its journal, and still its recording goes on: a recovery would go back to its end.
    let now = folders(&platform).iter().map(|folder| end(folder)).max().expect("three");
    platform.wait_for("an idle recorder that says so", || end(&platform.beside("events")) > now);
    std::thread::sleep(Duration::from_millis(100));
    platform.kill_everything();
    let heard = listener.finish();
    platform.forget();

    let folders = folders(&platform);
    let recovery = Recovery::open(&folders, None).expect("it can be recovered");
    let time = recovery.time();
    assert!(
        recovery.recordings().iter().all(|recording| recording.end().time <= time),
        "none is taken beyond it"
    );
    let journals: Vec<&str> = recovery.journals().map(|journal| journal.journal.name.as_str()).collect();
    for name in ["md.quotes", "master.events", "td.orders", "reports.takers-1"] {
        assert!(journals.contains(&name), "{name} is not in {journals:?}");
    }
    let mut merged = Records::new();
    folders.iter().for_each(|folder| disk::merge(&mut merged, records_until(folder, time)));
    // What was heard is on disk, all of it; what is later than the earliest end does not come back.
    let whole = disk::records(&latest(&folders[0]));
    let heard = listener::assert_on_disk(&heard, &whole);
    assert!(heard > 0, "nothing was acknowledged: this shows nothing");
    let back = merged.iter().filter(|(name, _)| name.starts_with("reports."));
    let back: usize = back.map(|(_, frames)| frames.len()).sum();
    assert!(back > 20, "{back} reports come back of {heard} that were heard");

    let fills = 20;
    platform.await_up(platform.start_again_from(&folders));
    platform.wait_for("trades", || platform.counter("matching", Counter::Fills) > fills);
    platform.down();
    folders.iter().for_each(|folder| disk::merge(&mut merged, disk::records(&latest(folder))));
    let audit = audit::audit(&merged, &Announced::new());
    println!("{heard} reports heard, {back} came back; {audit}");
    assert!(audit.faults.is_empty(), "{:?}\n{}", audit.faults, platform.logs());
}
