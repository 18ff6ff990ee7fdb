//! Disks that take nothing more, that are slow, and recorders that are gone: what is said, what waits, and what goes on.
//!
//! A limit for the size of the recorder's files stands for a full disk: it needs no rights, and can be lifted.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::{Duration, Instant};

use journal::{Journal, JournalFiles};
use node::{Counter, NodeState};
use recorder::read::{FrameError, Recording};
use serde_json::Value;
use wire::{AnyMessage, OrderStatus, Reason};

use crate::platform::{Platform, RECORDER, signal};
use crate::{audited, disk, listener};

/// Files of the recorder may have this size from now on.
fn limit(platform: &Platform, bytes: &str) {
    let process = platform.process(RECORDER);
    let limited = Command::new("prlimit")
        .args(["--pid", &process.pid.to_string(), &format!("--fsize={bytes}:unlimited")])
        .status();
    assert!(limited.is_ok_and(|status| status.success()), "prlimit is there");
}

/// Takers that send orders as long as there are quotes. With a limit of their position they stop within milliseconds of a disk that
/// refuses, because they hear of no fill any more: no order may be left that td could refuse.
const EAGER: (&str, &str) =
    ("params = { max_position = 50 }", "params = { max_position = 1000000, every = 50 }");
/// A disk is full for so long before it is full another time.
const FULL: Duration = Duration::from_secs(2);

fn orders(platform: &Platform) -> u64 {
    platform.counter("td", Counter::Orders)
}

/// Reports in which td says that nothing durable can be said of an order.
fn not_durable(records: &crate::witness::Records) -> usize {
    let reports = records.iter().filter(|(name, _)| name.starts_with("reports."));
    let is_refusal = |message: &AnyMessage| {
        matches!(message, AnyMessage::OrderUpdate(update)
            if update.status == OrderStatus::Rejected && update.reason == Reason::NotDurable)
    };
    reports.flat_map(|(_, frames)| frames).filter(|record| is_refusal(&record.message)).count()
}

fn disk_row(status: &Value) -> Value {
    status["disks"][0].clone()
}

#[test]
fn orders_are_refused_while_the_disk_is_full_and_nothing_is_lost() {
    let platform = Platform::with("", &[EAGER]);
    platform.await_up(platform.start_up());
    let listener = listener::listen(&platform.journals());
    std::thread::sleep(Duration::from_millis(300));
    let (mut refused, patience) = (0, Instant::now() + Duration::from_secs(180));
    while refused < 3 {
        assert!(Instant::now() < patience, "orders are refused in {refused} of 3 times\n{}", platform.logs());
        // Read before: soon after the disk is full the market waits too, and no strategy sends orders any more. On a loaded host td
        // may look at the disk after that.
        let rejects = platform.counter("td", Counter::Rejects);
        limit(&platform, "4096");
        platform
            .wait_for("a disk that refuses", || platform.counter(RECORDER, Counter::DiskRefusesSince) > 0);
        let (full, has_refused) = (Instant::now(), || platform.counter("td", Counter::Rejects) > rejects);
        platform.wait_for("orders that are refused", || has_refused() || full.elapsed() > FULL);
        refused += u32::from(has_refused());
        let said = disk_row(&platform.status());
        assert!(said["refuses_since"].is_string() && said["is_gone"] == false, "{said}");
        assert_eq!(said["missing_bytes"], 0, "everybody waits: nothing is missing");
        limit(&platform, "unlimited");
        platform
            .wait_for("a disk that writes", || platform.counter(RECORDER, Counter::DiskRefusesSince) == 0);
        let fills = platform.counter("matching", Counter::Fills);
        platform.wait_for("trades", || platform.counter("matching", Counter::Fills) > fills);
    }
    std::thread::sleep(Duration::from_millis(300));
    let status = platform.status();
    assert_eq!(status["disks"].as_array().map(Vec::len), Some(0), "{}", status["disks"]);
    let (code, report) = platform.ask_for_exit("down");
    assert_eq!((code, unrecorded(&report)), (Some(0), Vec::new()), "all of it is on disk");
    let heard = listener.finish();
    let recorded = disk::records(&platform.runs()[0]);
    let heard = listener::assert_on_disk(&heard, &recorded);
    let refused = not_durable(&recorded);
    assert!(refused > 0, "no order was refused for the disk");
    audited(
        &format!("a full disk, {heard} reports heard, {refused} orders refused"),
        &platform,
        &recorded,
        &status,
        &report,
    );
}

#[test]
fn trading_without_durability_goes_on_while_the_disk_is_full_where_that_is_wanted() {
    let platform = Platform::with("when_full = \"gap\"", &[("reports.durability = \"sync\"", "")]);
    platform.await_up(platform.start_up());
    std::thread::sleep(Duration::from_millis(200));
    limit(&platform, "4096");
    platform.wait_for("a disk that refuses", || platform.counter(RECORDER, Counter::DiskRefusesSince) > 0);
    // Many times what the rings hold.
    let (begun, lost) = (orders(&platform), platform.counter(RECORDER, Counter::BytesLost));
    platform.wait_for("trading", || {
        orders(&platform) > begun + 500 && platform.counter(RECORDER, Counter::BytesLost) > lost + (1 << 20)
    });
    let said = disk_row(&platform.status());
    assert!(said["missing_bytes"].as_u64() > Some(1 << 20), "{said}");
    limit(&platform, "unlimited");
    platform.wait_for("a disk that writes", || platform.counter(RECORDER, Counter::DiskRefusesSince) == 0);
    std::thread::sleep(Duration::from_millis(200));
    let report = platform.down();
    let caveats = report["caveats"].to_string();
    assert!(caveats.contains("bytes of journals are missing in its recording"), "{caveats}");
    let recording = Recording::open(&platform.runs()[0]).expect("a recording");
    let journal = recording.description().journal("md.quotes").expect("it is recorded");
    let mut frames = recording.frames(journal, 0);
    let (mut before, mut gaps, mut after) = (0, Vec::new(), 0);
    loop {
        match frames.next() {
            Ok(Some(_)) if gaps.is_empty() => before += 1,
            Ok(Some(_)) => after += 1,
            Ok(None) => break,
            Err(FrameError::Missing { from, to, what, .. }) => gaps.push((from, to, what)),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(before > 0 && after > 0 && gaps.len() == 1, "{before} frames, then {gaps:?}, then {after}");
    assert!(gaps[0].2.contains("its disk took nothing"), "{gaps:?}");
}

/// Overwritten frames hold up no writer and no successor.
#[test]
fn a_recorder_that_is_ended_while_its_disk_is_full_holds_nobody_up() {
    let platform = Platform::with("when_full = \"gap\"", &[("reports.durability = \"sync\"", "")]);
    platform.await_up(platform.start_up());
    std::thread::sleep(Duration::from_millis(200));
    for _ in 0..3 {
        limit(&platform, "4096");
        platform
            .wait_for("a disk that refuses", || platform.counter(RECORDER, Counter::DiskRefusesSince) > 0);
        // Many times what the rings hold.
        let begun = orders(&platform);
        platform.wait_for("trading", || orders(&platform) > begun + 1_000);
        let (ended, begun) = (platform.process(RECORDER), orders(&platform));
        signal(ended.pid, "TERM");
        // The limit is that of one process: the successor writes.
        platform.wait_for("a successor", || {
            platform.process(RECORDER) != ended && platform.counter(RECORDER, Counter::DiskRefusesSince) == 0
        });
        platform.wait_for("trading", || orders(&platform) > begun + 200);
    }
    let full = ["md", "td", "matching"].map(|node| platform.counter(node, Counter::Full));
    let report = platform.down();
    assert!(!platform.logs().contains("damaged"), "{}", platform.logs());
    assert!(unrecorded(&report).is_empty(), "{report}");
    let rows = report["nodes"].as_array().expect("nodes").iter();
    let starts = rows.filter(|node| node["name"] == RECORDER).map(|node| node["starts"].as_u64());
    assert_eq!(starts.collect::<Vec<_>>(), [Some(4)], "each successor lived: {report}");
    println!("found no room: {full:?}");
    let recording = Recording::open(&platform.runs()[0]).expect("a recording");
    let faults = recording.verify().expect("it is read").findings;
    assert!(!faults.iter().any(|found| found.kind.is_fault()), "{faults:?}");
}

/// A cut that was written and never acknowledged may be in the kernel's memory alone: it is written again, from the journals.
#[test]
fn what_a_file_holds_behind_what_was_acknowledged_does_not_count() {
    let waits = ("restart_backoff = \"0s\"", "restart_backoff = \"6s\"");
    let platform = Platform::with("", &[waits]);
    platform.await_up(platform.start_up());
    std::thread::sleep(Duration::from_millis(200));
    let killed = platform.process(RECORDER);
    signal(killed.pid, "KILL");
    platform.wait_for("its death", || !killed.is_alive());
    let run = platform.runs()[0].clone();
    let forged = forge_a_cut(&run, platform.counter(RECORDER, Counter::BlocksOnDisk));
    platform.wait_for("a successor", || platform.state(RECORDER) == NodeState::Running);
    let begun = orders(&platform);
    platform.wait_for("trading", || orders(&platform) > begun + 200);
    let status = platform.status();
    let report = platform.down();
    assert!(unrecorded(&report).is_empty(), "{report}");
    let end = Recording::open(&run).expect("a recording").end();
    assert!(end.next_block > forged, "it went on");
    audited("a forged cut", &platform, &disk::records(&run), &status, &report);
}

/// Writes what no recorder has acknowledged behind all that one has: the last request once more, at a
/// position of its own. Number of the first block.
fn forge_a_cut(run: &std::path::Path, on_disk: u64) -> u64 {
    use recorder::format::Kind;
    use recorder::write::{Note, Policy, Recorder, WriteError};
    let recording = Recording::open_before(run, on_disk).expect("a recording");
    let journal = recording.description().journal("td.orders").expect("it is recorded");
    let end = recording.ends().expect("ends")[usize::from(journal.number) - 1].expect("frames");
    let time = recording.end().time;
    let mut frames = recording.frames(journal, 0);
    let mut forged = Vec::new();
    while let Some(frame) = frames.next().expect("it is read") {
        forged.clear();
        forged.extend_from_slice(&end.to_le_bytes());
        forged.extend_from_slice(&(frame.payload.len() as u32).to_le_bytes());
        forged.extend_from_slice(&frame.message_id.to_le_bytes());
        forged.extend_from_slice(&0_u16.to_le_bytes());
        forged.extend_from_slice(&(time + 1).to_le_bytes());
        forged.extend_from_slice(&frame.topic.to_le_bytes());
        forged.extend_from_slice(&frame.epoch.to_le_bytes());
        forged.extend_from_slice(frame.payload);
        forged.resize(journal::layout::frame_bytes(frame.payload.len() as u64) as usize, 0);
    }
    let reopen = || {
        let policy = Policy { segment_bytes: 1 << 20, compress: None };
        let (description, note) = (recording.description(), Note(Box::new(|_| ())));
        Recorder::reopen(run, description, policy, time, Some(on_disk), note)
    };
    // The kernel may take a moment to release the lock of the killed recorder. Its successor waits for longer.
    let patience = Instant::now() + Duration::from_secs(3);
    let mut recorder = loop {
        match reopen() {
            Err(WriteError::Taken(_)) if Instant::now() < patience => {
                std::thread::sleep(Duration::from_millis(10));
            }
            recorder => break recorder.expect("it writes"),
        }
    };
    let batch = recorder.begin_cut(time + 1).expect("room");
    let first = batch.next();
    let fill = |bytes: &mut Vec<u8>| {
        bytes.extend_from_slice(&forged);
        Ok::<_, std::io::Error>((end, 1))
    };
    batch.block(Kind::Frames, journal.number, fill).expect("a block");
    recorder.close_cut().expect("it is written");
    first
}

#[test]
fn a_recorder_that_is_slow_is_waited_for_and_that_is_seen() {
    let platform = Platform::new("");
    platform.await_up(platform.start_up());
    let listener = listener::listen(&platform.journals());
    std::thread::sleep(Duration::from_millis(200));
    let process = platform.process(RECORDER);
    signal(process.pid, "STOP");
    // The rings fill up, and no further.
    let full = || {
        platform.counter("md", Counter::Full)
            + platform.counter("matching", Counter::Full)
            + platform.counter("td", Counter::Full)
    };
    platform.wait_for("full rings", || full() > 0);
    let status = platform.status();
    let nodes = status["nodes"].as_array().expect("nodes");
    let lag = nodes.iter().find(|node| node["node"] == RECORDER).expect("the recorder")["lag_bytes"].as_u64();
    assert!(lag > Some(1 << 14), "its lag is seen: {lag:?}");
    signal(process.pid, "CONT");
    std::thread::sleep(Duration::from_millis(300));
    let status = platform.status();
    let report = platform.down();
    let heard = listener.finish();
    let recorded = disk::records(&platform.runs()[0]);
    let heard = listener::assert_on_disk(&heard, &recorded);
    audited(&format!("a slow disk, {heard} reports heard"), &platform, &recorded, &status, &report);
}

#[test]
fn a_recorder_that_is_gone_for_good_is_spoken_of_and_holds_up_only_what_is_to_be_durable() {
    let restarts = ("restart_max = 1000000\nrestart_backoff = \"0s\"", "restart_max = 0");
    let platform = Platform::with("when_full = \"gap\"", &[restarts, EAGER]);
    platform.await_up(platform.start_up());
    std::thread::sleep(Duration::from_millis(200));
    // Nothing of the orders behind its end would be on disk.
    let rejects = platform.counter("td", Counter::Rejects);
    signal(platform.process(RECORDER).pid, "KILL");
    platform.wait_for("a recorder that is given up", || platform.state(RECORDER) == NodeState::Failed);
    platform.wait_for("orders that are refused", || platform.counter("td", Counter::Rejects) > rejects);
    let quotes = platform.counter("md", Counter::Quotes);
    platform.wait_for("quotes beyond what the rings hold", || {
        platform.counter("md", Counter::Quotes) > quotes + 3_000
    });
    let status = platform.status();
    assert_eq!(disk_row(&status)["is_gone"], true, "{}", status["disks"]);
    let (code, report) = platform.ask_for_exit("down");
    assert!(report["caveats"].to_string().contains("gone for good"), "{}", report["caveats"]);
    assert_eq!(code, Some(1), "the end of the run is not on disk");
    let rows = unrecorded(&report);
    let ends = ends_on_disk(&platform);
    let lacks = |name: &str| {
        let row =
            rows.iter().find(|row| row["journal"] == name).unwrap_or_else(|| panic!("{name}: {rows:?}"));
        (row["from"].as_u64(), ends[name], row["end"].as_u64())
    };
    for name in ["td.orders", "matching.executions"] {
        let (from, on_disk, end) = lacks(name);
        assert!(
            from.is_some() && from <= on_disk && from < end,
            "{name}: {from:?}, on disk up to {on_disk:?}, of {end:?}"
        );
    }
}

#[test]
fn a_run_that_ends_while_the_disk_is_full_has_failed_and_says_what_is_not_on_disk() {
    // The limit is that of one process: a successor would write what is missing.
    let alone = ("compress = 1\nrestart = \"on-failure\"", "compress = 1\nrestart = \"never\"");
    for more in ["", "when_full = \"gap\""] {
        let platform = Platform::with(more, &[alone]);
        platform.await_up(platform.start_up());
        std::thread::sleep(Duration::from_millis(200));
        limit(&platform, "4096");
        platform
            .wait_for("a disk that refuses", || platform.counter(RECORDER, Counter::DiskRefusesSince) > 0);
        platform.wait_for("quotes that are not on disk", || not_on_disk(&platform).contains("md.quotes"));
        let lacking = not_on_disk(&platform);
        let (code, report) = platform.ask_for_exit("down");
        assert_eq!(code, Some(1), "{more}: {}", report["unrecorded"]);
        let rows = unrecorded(&report);
        let ends = ends_on_disk(&platform);
        for name in &lacking {
            let row = rows.iter().find(|row| row["journal"] == *name);
            let row = row.unwrap_or_else(|| panic!("{more}: {name}: {rows:?}"));
            assert_eq!(row["from"].as_u64(), ends[name], "{more}: {row}");
            assert!(row["from"].as_u64() < row["end"].as_u64(), "{more}: {row}");
        }
        assert!(rows.iter().all(|row| row["journal"] != "md.instruments"), "all of it is on disk: {rows:?}");
        let recorder =
            report["nodes"].as_array().expect("nodes").iter().find(|node| node["name"] == RECORDER);
        let reason = recorder.expect("the recorder")["reason"].to_string();
        assert!(
            reason.contains("the end of the run is not recorded: ") && reason.contains(" from "),
            "{reason}"
        );
    }
}

/// Journals that go on behind what the recorder has on disk.
fn not_on_disk(platform: &Platform) -> BTreeSet<String> {
    let kept = platform.kept_by_recorder();
    let goes_on = |(name, files): (String, JournalFiles)| {
        let head = Journal::open(files).expect("a journal").stat().head;
        kept.get(&name).is_some_and(|kept| head > *kept).then_some(name)
    };
    platform.journals().into_iter().filter_map(goes_on).collect()
}

/// By journal: position behind the last frame that is on disk.
fn ends_on_disk(platform: &Platform) -> BTreeMap<String, Option<u64>> {
    let recording = Recording::open(&platform.runs()[0]).expect("a recording");
    let journals = recording.description().journals.iter().map(|journal| journal.name.clone());
    journals.zip(recording.ends().expect("ends")).collect()
}

fn unrecorded(report: &Value) -> Vec<Value> {
    report["unrecorded"].as_array().expect("a list").clone()
}

#[test]
fn a_folder_that_cannot_be_recorded_in_is_refused_when_the_platform_starts() {
    let restarts = ("restart_max = 1000000\nrestart_backoff = \"0s\"", "");
    let platform = Platform::with("", &[restarts]);
    std::fs::write(platform.recordings(), "a file").expect("a file");
    let mut up = platform.start_up();
    platform.wait_for("the refusal", || up.try_wait().expect("a child").is_some());
    let output = up.wait_with_output().expect("its output");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("nothing can be recorded in") && said.contains("`path`"), "{said}");
}

/// Memory of a process that is in RAM, at most so far, in KiB.
fn most_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn a_slow_recorder_that_nobody_waits_for_has_gaps_and_that_is_said() {
    let platform = Platform::with("loose = [\"all\"]", &[("reports.durability = \"sync\"", "")]);
    platform.await_up(platform.start_up());
    std::thread::sleep(Duration::from_millis(200));
    let process = platform.process(RECORDER);
    let before = most_memory(process.pid);
    for _ in 0..3 {
        let (begun, lost) = (orders(&platform), platform.counter(RECORDER, Counter::BytesLost));
        signal(process.pid, "STOP");
        // Several times what the ring of orders holds.
        platform.wait_for("trading", || orders(&platform) > begun + 1_500);
        signal(process.pid, "CONT");
        platform.wait_for("a gap", || platform.counter(RECORDER, Counter::BytesLost) > lost);
    }
    let said = disk_row(&platform.status());
    assert!(said["missing_bytes"].as_u64() > Some(0) && said["is_gone"] == false, "{said}");
    assert_eq!(platform.process(RECORDER), process, "it is the same process");
    // No more than the rings hold, however long it slept: these are 9 MiB, and a batch is written at 4 MiB.
    let grown = most_memory(process.pid).saturating_sub(before);
    assert!(grown < 64 << 10, "{grown} KiB more than before");
    let report = platform.down();
    let caveats = report["caveats"].to_string();
    assert!(caveats.contains("bytes of journals are missing in its recording"), "{caveats}");
    let recording = Recording::open(&platform.runs()[0]).expect("a recording");
    let orders = recording.description().journal("td.orders").expect("it is recorded");
    let mut frames = recording.frames(orders, 0);
    let (mut count, mut gaps) = (0, 0);
    loop {
        match frames.next() {
            Ok(Some(_)) => count += 1,
            Ok(None) => break,
            Err(FrameError::Missing { what, .. }) => {
                assert!(what.contains("overtaken"), "{what}");
                gaps += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(count > 0 && gaps > 0, "{count} orders, {gaps} gaps");
}
