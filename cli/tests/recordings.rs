//! `colo journal … --recording` and `colo recover`: what was in the rings is in the recording, and what is wrong with one is
//! named.

mod home;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use recorder::format::Kind;
use recorder::read::{Blocks, Found, Recording};
use recorder::recover::latest;
use serde_json::Value;

use home::{Home, number, stderr, stdout};

fn lines(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output).lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect()
}

/// A platform that ran and was recorded: its home, the folder with the recordings, and what its rings held.
fn recorded(more: &str) -> (Home, String, Vec<Vec<Value>>) {
    let home = Home::new();
    let (file, folder) = home.recorded_platform(more);
    let up = home.colo(&["up", &file, "--stay", "--set", "md.count=0", "--set", "md.interval=1ms"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    home.wait_for("fills", || number(&home.node("demo", "matching")["counters"]["fills"]) > 50);
    let ring = |journal: &&str| lines(&home.colo(&["journal", "dump", journal, "--format", "json"]));
    JOURNALS.iter().for_each(|journal| home.wait_for("a first frame", || !ring(journal).is_empty()));
    let rings = JOURNALS.iter().map(ring).collect();
    let down = home.colo(&["down"]);
    assert!(down.status.success(), "{}\n{}", stderr(&down), home.logs());
    (home, folder, rings)
}

const JOURNALS: [&str; 3] = ["td.orders", "matching.executions", "reports.takers-1"];

#[test]
fn a_recording_is_read_as_the_rings_were() {
    let (home, folder, rings) = recorded("");
    let dump = |journal: &str, more: &[&str]| {
        let start = ["journal", "dump", journal, "--recording", &folder, "--format", "json"];
        lines(&home.colo(&[&start, more].concat()))
    };
    for (journal, ring) in JOURNALS.iter().zip(&rings) {
        let whole = dump(journal, &[]);
        assert!(!ring.is_empty() && whole.len() >= ring.len(), "{journal}: {} frames", whole.len());
        // On a slow host the ring is overwritten while it is read, and the dump has gaps.
        let mut recorded = whole.iter();
        for frame in ring.iter().filter(|frame| frame["message"] != "gap") {
            let found = recorded.find(|found| found["position"] == frame["position"]);
            assert_eq!(found, Some(frame), "{journal}");
        }
        // A part, by position, by time and by count.
        let middle = &whole[whole.len() / 2];
        let (position, time) = (middle["position"].to_string(), format!("{}ns", middle["time_ns"]));
        assert_eq!(dump(journal, &["--from", &position]), whole[whole.len() / 2..], "{journal}");
        assert_eq!(dump(journal, &["--to", &position]), whole[..whole.len() / 2], "{journal}");
        let late: Vec<Value> = whole
            .iter()
            .filter(|frame| number(&frame["time_ns"]) >= number(&middle["time_ns"]))
            .cloned()
            .collect();
        assert_eq!(dump(journal, &["--from", &time]), late, "{journal}");
        assert_eq!(dump(journal, &["-n", "3"]), whole[..3], "{journal}");
        let tail =
            home.json(&["journal", "tail", journal, "-n", "7", "--recording", &folder, "--format", "json"]);
        assert_eq!(tail["frames"].as_array().expect("frames")[..], whole[whole.len() - 7..], "{journal}");
        let stat = home.json(&["journal", "stat", journal, "--recording", &folder, "--format", "json"]);
        assert_eq!(stat["last_time_ns"], whole[whole.len() - 1]["time_ns"], "{stat}");
        assert_eq!(number(&stat["frames"]), whole.len() as u64, "{stat}");
    }
    let listed = home.json(&["journal", "ls", "--recording", &folder, "--format", "json"]);
    assert!(listed["journals"].as_array().expect("journals").len() > 20, "{listed}");
    // The last order of all may be a maker's that answers a report, which has no latency.
    let reports = dump("reports.takers-1", &[]);
    let last = reports.iter().rfind(|frame| frame["message"] == "Fill").expect("a fill");
    let order = last["fields"]["order_id"].as_str().expect("an order");
    let trace = home.json(&["journal", "trace", order, "--recording", &folder, "--format", "json"]);
    for hop in ["published", "received", "ordered", "taken", "routed", "executed", "reported"] {
        let hops = trace["hops"].as_array().expect("hops");
        assert!(hops.iter().any(|found| found["hop"] == hop), "no hop {hop} in {trace}");
    }
    let verified = home.json(&["journal", "verify", "--recording", &folder, "--format", "json"]);
    assert_eq!(
        (&verified["clean"], &verified["findings"]),
        (&true.into(), &Value::Array(Vec::new())),
        "{verified}"
    );
    let recovered = home.json(&["recover", &folder, "--format", "json"]);
    assert_eq!(recovered["unacknowledged"], Value::Array(Vec::new()), "{recovered}");
    let text = home.colo(&["recover", &folder]);
    assert!(stdout(&text).contains("nothing unacknowledged is known"), "{}", stdout(&text));

    // What does not fit is said.
    let unknown = home.colo(&["journal", "dump", "td.order", "--recording", &folder]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("did you mean `td.orders`"), "{}", stderr(&unknown));
    let both = home.colo(&["journal", "tail", "td.orders", "--follow", "--recording", &folder]);
    assert_eq!(both.status.code(), Some(2), "a recording does not grow");
    let nothing = home.colo(&["journal", "ls", "--recording", &home.root.path().display().to_string()]);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(stderr(&nothing).contains("no segment is there"), "{}", stderr(&nothing));
}

/// Offset of the last block of the last cut that has several.
fn last_cut(path: &Path, recording: &Recording) -> Option<u64> {
    let mut blocks = Blocks::open(path).expect("a segment");
    let mut found = None;
    while let Found::Block(size) = blocks.find().expect("readable") {
        let head = blocks.block().expect("a block").head;
        if head.number.get() >= recording.end().next_block {
            break;
        }
        if head.closes_cut() && head.cut != head.number {
            found = Some(blocks.offset());
        }
        blocks.pass(size);
    }
    found
}

/// Offset of a byte in the middle of the longest block of frames.
fn inside_frames(path: &Path) -> usize {
    let mut blocks = Blocks::open(path).expect("a segment");
    let mut longest = (0, 0);
    while let Found::Block(size) = blocks.find().expect("readable") {
        if blocks.block().expect("a block").head.kind() == Some(Kind::Frames) {
            longest = longest.max((size, blocks.offset() as usize));
        }
        blocks.pass(size);
    }
    longest.1 + longest.0 / 2
}

#[test]
fn damage_is_named_and_what_was_never_acknowledged_is_listed() {
    // The last segment of a run may be so short that no cut in it has several blocks.
    let found = (0..5).find_map(|_| {
        let (home, folder, _) = recorded("segment = \"512KiB\"\ncompress = 0");
        let run = latest(Path::new(&folder));
        let recording = Recording::open(&run).expect("a recording");
        let segments: Vec<PathBuf> =
            recording.segments().iter().map(|segment| segment.path.clone()).collect();
        let end = last_cut(segments.last().expect("a segment"), &recording)?;
        Some((home, folder, run, segments, end as usize))
    });
    let (home, folder, run, segments, end) = found.expect("a cut of several blocks in the last segment");
    assert!(segments.len() > 1, "{segments:?}");
    let verify = || {
        let output = home.colo(&["journal", "verify", "--recording", &folder, "--format", "json"]);
        let printed: Value = serde_json::from_str(&stdout(&output)).expect("an object");
        let kinds: Vec<String> = printed["findings"]
            .as_array()
            .expect("findings")
            .iter()
            .map(|finding| finding["kind"].as_str().unwrap_or_default().to_owned())
            .collect();
        (output.status.code(), kinds, printed)
    };
    assert_eq!(verify().0, Some(0));

    // As if the power had gone before the last block of a cut was on disk.
    let last = segments.last().expect("a segment");
    let whole = fs::read(last).expect("the segment");
    fs::write(last, &whole[..end]).expect("written");
    let (code, kinds, printed) = verify();
    assert_eq!((code, kinds.as_slice()), (Some(0), ["torn".to_owned()].as_slice()), "{printed}");
    let recovered = home.json(&["recover", &folder, "--format", "json"]);
    let unacknowledged = recovered["unacknowledged"].as_array().expect("a list");
    assert!(!unacknowledged.is_empty(), "{recovered}");
    assert!(unacknowledged.iter().all(|frame| frame["message"].is_string()), "{recovered}");
    let text = stdout(&home.colo(&["recover", &folder]));
    assert!(text.contains("never acknowledged, do not come back"), "{text}");
    fs::write(last, &whole).expect("written");

    // A flipped bit.
    let first = fs::read(&segments[0]).expect("the segment");
    let mut flipped = first.clone();
    flipped[inside_frames(&segments[0])] ^= 1;
    fs::write(&segments[0], flipped).expect("written");
    let (code, kinds, printed) = verify();
    assert_eq!(code, Some(4), "{printed}");
    assert!(kinds.contains(&"damage".to_owned()), "{printed}");
    let text = home.colo(&["journal", "verify", "--recording", &folder]);
    assert_eq!(text.status.code(), Some(4));
    assert!(stdout(&text).contains("damage segment 1 at"), "{}", stdout(&text));
    fs::write(&segments[0], first).expect("written");

    // The index of a segment that was closed, and its end: nothing that counts is missing.
    let before_end = whole.len() - 128;
    let index = u64::from_le_bytes(whole[before_end + 64..before_end + 72].try_into().expect("8 bytes"));
    for at in [index as usize + 70, before_end + 66] {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        fs::write(last, flipped).expect("written");
        let (code, kinds, printed) = verify();
        assert_eq!((code, kinds.as_slice()), (Some(4), ["damage".to_owned()].as_slice()), "{printed}");
        assert!(printed["findings"][0]["found"].to_string().contains("its index is damaged"), "{printed}");
        let recovered = home.colo(&["recover", &folder]);
        assert_eq!(recovered.status.code(), Some(0), "{}", stderr(&recovered));
    }
    fs::write(last, &whole).expect("written");

    // A segment that is gone: verify misses it, and a dump has a row for what it held.
    let dump =
        || lines(&home.colo(&["journal", "dump", "td.orders", "--recording", &folder, "--format", "json"]));
    let all = dump();
    assert!(all.iter().all(|row| row["message"] != "gap"), "nothing is missing");
    for (place, segment) in segments.iter().enumerate() {
        let held = fs::read(segment).expect("the segment");
        fs::remove_file(segment).expect("removed");
        let (code, kinds, printed) = verify();
        assert_eq!((code, kinds.contains(&"missing".to_owned())), (Some(4), true), "{printed}");
        let is_last = place + 1 == segments.len();
        let rows = dump();
        let gaps: Vec<&Value> = rows.iter().filter(|row| row["message"] == "gap").collect();
        // Behind the last frame that is left nothing says how far the journal went.
        let position = |row: &Value| number(&row["position"]);
        let has = |row: &&Value| rows.iter().any(|found| position(found) == position(row) && found == *row);
        let last = rows.iter().filter(|row| row["message"] != "gap").map(position).max();
        let is_inside = all.iter().any(|row| Some(position(row)) < last && !has(&row));
        // How far the last segment went is not known.
        assert_eq!(gaps.len(), usize::from(is_inside || is_last), "{place} of {}: {gaps:?}", segments.len());
        for gap in gaps.into_iter().filter(|gap| !gap["resumed_at"].is_null()) {
            let (from, to) = (number(&gap["position"]), number(&gap["resumed_at"]));
            assert_eq!(number(&gap["lost_bytes"]), to - from, "{gap}");
            assert!(gap["reason"].is_string(), "{gap}");
            let is_there = |row: &&Value| !(from..to).contains(&number(&row["position"]));
            let left: Vec<&Value> = all.iter().filter(is_there).collect();
            let found: Vec<&Value> = rows.iter().filter(|row| row["message"] != "gap").collect();
            assert_eq!(found, left, "what is not in the gap is there");
        }
        let recovered = home.colo(&["recover", &folder]);
        if is_last {
            assert_eq!(recovered.status.code(), Some(1), "{}", stdout(&recovered));
            assert!(
                stderr(&recovered).contains("the newest that was begun, is not there"),
                "{}",
                stderr(&recovered)
            );
        }
        fs::write(segment, held).expect("written");
    }
    fs::write(run.join("00009999.seg"), "none").expect("written");
    let (code, kinds, printed) = verify();
    assert_eq!((code, kinds.as_slice()), (Some(4), ["unreadable".to_owned()].as_slice()), "{printed}");
}

#[test]
fn a_recorder_keeps_what_it_is_told_to_and_a_recovery_still_finds_its_end() {
    let (home, folder, _) = recorded("segment = \"128KiB\"\ncompress = 0\nkeep_bytes = \"512KiB\"");
    let listed = home.json(&["journal", "ls", "--recording", &folder, "--format", "json"]);
    let verified = home.json(&["journal", "verify", "--recording", &folder, "--format", "json"]);
    assert_eq!(verified["clean"], true, "{verified}");
    let recovered = home.json(&["recover", &folder, "--format", "json"]);
    for (row, back) in listed["journals"].as_array().expect("journals").iter().filter_map(|row| {
        let back = recovered["journals"].as_array()?.iter().find(|back| back["journal"] == row["journal"])?;
        (!row["end"].is_null()).then_some((row, back))
    }) {
        assert_eq!(row["end"], back["end"], "{row} {back}");
        let ring = number(&row["capacity_bytes"]);
        let from = number(&row["first_position"]).max(number(&row["end"]).saturating_sub(ring));
        // The oldest frame that still fits begins at most a frame later.
        assert!(number(&back["from"]) < from + 1024, "{row} {back}");
    }
}

#[test]
fn an_orders_way_says_when_each_frame_was_on_disk_live_and_from_the_recording() {
    let home = Home::new();
    let (file, folder) = home.recorded_platform("");
    let up = home.colo(&["up", &file, "--stay", "--set", "md.count=0", "--set", "md.interval=1ms"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    home.wait_for("fills", || number(&home.node("demo", "matching")["counters"]["fills"]) > 20);
    let framed = |trace: &Value| -> Vec<Value> {
        let hops = trace["hops"].as_array().expect("hops").iter();
        hops.filter(|hop| hop["evidence"] == "frame").cloned().collect()
    };
    // The cut behind that of the last frame holds the time. On a slow host an order may be overwritten before that: the next one is tried.
    let mut found = None;
    home.wait_for("an order whose whole way is on disk", || {
        let last = home.json(&["journal", "trace", "--last", "--format", "json"]);
        let order = last["order_id"].as_str().expect("an order").to_owned();
        found = (0..10).find_map(|_| {
            let live = home.json(&["journal", "trace", &order, "--format", "json"]);
            let hops = framed(&live);
            let is_whole = hops.len() >= 5 && hops.iter().all(|hop| hop["durable_ns"].is_u64());
            is_whole.then(|| (order.clone(), live, hops))
        });
        found.is_some()
    });
    let (order, live, hops) = found.expect("it was waited for");
    for hop in &hops {
        let (committed, durable) = (number(&hop["time_ns"]), number(&hop["durable_ns"]));
        assert!(durable > committed, "{hop:#}");
        assert_eq!(number(&hop["since_commit_ns"]), durable - committed, "{hop:#}");
    }
    let ordered = hops.iter().find(|hop| hop["hop"] == "ordered").expect("its order");
    assert_eq!(live["stages"]["durable_ns"], ordered["since_commit_ns"]);
    let text = stdout(&home.colo(&["journal", "trace", &order]));
    assert!(text.contains("on disk, µs") && text.contains("durable "), "{text}");

    assert!(home.colo(&["down"]).status.success(), "{}", home.logs());
    let arguments = ["journal", "trace", &order, "--recording", &folder, "--format", "json"];
    let recorded = framed(&home.json(&arguments));
    for hop in &hops {
        let same =
            |found: &&Value| (&found["journal"], &found["position"]) == (&hop["journal"], &hop["position"]);
        let found = recorded.iter().find(same).expect("the same frame");
        assert_eq!(found["durable_ns"], hop["durable_ns"], "{found:#}");
    }
    // The very last frame of the run too: the recorder says it when it stops.
    let newest =
        framed(&home.json(&["journal", "trace", "--last", "--recording", &folder, "--format", "json"]));
    assert!(newest.iter().all(|hop| hop["durable_ns"].is_u64()), "{newest:#?}");

    // Where nothing is recorded, nothing is said.
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/demo.toml").display().to_string();
    let up = home.colo(&["up", &demo, "--stay", "--set", "md.count=0", "--set", "md.interval=1ms"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    home.wait_for("fills", || number(&home.node("demo", "matching")["counters"]["fills"]) > 5);
    let trace = home.json(&["journal", "trace", "--last", "--format", "json"]);
    assert!(framed(&trace).iter().all(|hop| hop["durable_ns"].is_null()), "{trace:#}");
    assert_eq!(trace["stages"]["durable_ns"], Value::Null);
    let text = stdout(&home.colo(&["journal", "trace", "--last"]));
    assert!(!text.contains("on disk"), "{text}");
    assert!(home.colo(&["down"]).status.success(), "{}", home.logs());
}

#[test]
fn a_recovery_up_to_a_position_holds_nothing_behind_it() {
    let (home, folder, _) = recorded("");
    let dumped = |journal: &str| {
        lines(&home.colo(&["journal", "dump", journal, "--recording", &folder, "--format", "json"]))
    };
    let back = |until: &str| home.json(&["recover", &folder, "--until", until, "--format", "json"]);
    let end = |printed: &Value, journal: &str| {
        let journals = printed["journals"].as_array().expect("journals").iter();
        number(&journals.clone().find(|row| row["journal"] == journal).expect("it is recorded")["end"])
    };
    let (orders, whole) = (dumped("td.orders"), home.json(&["recover", &folder, "--format", "json"]));
    let mut before = 0;
    for part in 1..4 {
        let place = orders.len() * part / 4;
        let (position, next) = (number(&orders[place]["position"]), number(&orders[place + 1]["position"]));
        let printed = back(&format!("td.orders@{position}"));
        let reached = end(&printed, "td.orders");
        assert!(reached <= next, "{reached} is behind the frame at {position}, which ends at {next}");
        assert!(reached > before, "more comes back up to a later position");
        before = reached;
        // It is a cut, of all journals, and the last such one.
        assert!(number(&printed["time_ns"]) < number(&whole["time_ns"]), "{printed}");
        let later = back(&(number(&printed["time_ns"]) + 1).to_string());
        assert_eq!(later["time_ns"], printed["time_ns"], "the time of the cut");
    }
    let last = number(&orders[orders.len() - 1]["position"]);
    assert_eq!(back(&format!("td.orders@{last}"))["time_ns"], whole["time_ns"], "nothing lies behind it");
    let refused = |until: &str, code: i32, reason: &str| {
        let output = home.colo(&["recover", &folder, "--until", until]);
        assert_eq!(output.status.code(), Some(code), "{until}: {}", stderr(&output));
        assert!(stderr(&output).contains(reason), "{until}: {}", stderr(&output));
    };
    refused("td.orders@first", 2, "JOURNAL@POSITION");
    refused("td.order@5", 1, "td.orders");
    // Where it begins is named, and that is as far as it goes back.
    let early = home.colo(&["recover", &folder, "--until", "master.events@0"]);
    let said = stderr(&early);
    assert_eq!(early.status.code(), Some(1), "{said}");
    let least = said.split("up to position ").nth(1).and_then(|rest| rest.split(';').next()).expect(&said);
    back(&format!("master.events@{least}"));
    refused("1", 1, "its first cut is of 20");

    // The platform goes on from there.
    let position = number(&orders[orders.len() / 2]["position"]);
    let until = format!("td.orders@{position}");
    let up = home.colo(&["up", "--recover", &folder, "--until", &until, "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let (code, begun) = (home.colo(&["down"]).status.code(), dumped("td.orders"));
    assert_eq!(code, Some(0), "{}", home.logs());
    let same = begun.iter().zip(&orders).take_while(|(one, other)| one == other).count();
    let reached = orders.iter().filter(|row| number(&row["position"]) <= position).count();
    assert!(same > 0 && same <= reached, "{same} frames are those of before, of {reached}");
}

/// `O_NONBLOCK` of Linux.
const NONBLOCK: i32 = 0o4000;

#[test]
fn reading_that_is_interrupted_says_so() {
    let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
    std::fs::write(folder.path().join("00000001.seg"), "").expect("written");
    // Whoever reads it waits for as long as this test likes.
    let newest = folder.path().join("newest");
    let made = std::process::Command::new("mkfifo").arg(&newest).status().expect("mkfifo");
    assert!(made.success());
    let path = folder.path().display().to_string();
    for verb in [&["recover", &path][..], &["journal", "verify", "--recording", &path]] {
        let child = home.command(verb).spawn().expect("colo starts");
        let held = std::cell::RefCell::new(None);
        home.wait_for("a reader", || {
            use std::os::unix::fs::OpenOptionsExt;
            let mut options = std::fs::OpenOptions::new();
            *held.borrow_mut() = options.write(true).custom_flags(NONBLOCK).open(&newest).ok();
            held.borrow().is_some()
        });
        home::kill(child.id(), "INT");
        let (pid, (sender, ended)) = (child.id(), std::sync::mpsc::channel());
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        let Ok(output) = ended.recv_timeout(std::time::Duration::from_secs(60)) else {
            home::kill(pid, "KILL");
            panic!("{verb:?} hangs");
        };
        let output = output.expect("its output");
        assert_eq!(output.status.code(), Some(1), "{verb:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("interrupted"), "{verb:?}: {}", stderr(&output));
    }
}

#[test]
fn a_folder_with_recordings_of_several_instances_is_refused_and_they_are_listed() {
    let (home, folder, _) = recorded("");
    let (one, other) = (Path::new(&folder).join("demo"), Path::new(&folder).join("other"));
    let run = latest(&one);
    let copy = other.join(run.file_name().expect("a name"));
    fs::create_dir_all(&copy).expect("a folder");
    for entry in fs::read_dir(&run).expect("the run").flatten() {
        fs::copy(entry.path(), copy.join(entry.file_name())).expect("copied");
    }
    for verb in [
        &["recover", &folder][..],
        &["up", "--recover", &folder],
        &["journal", "ls", "--recording", &folder],
        &["replay", &folder],
    ] {
        let output = home.colo(verb);
        assert_eq!(output.status.code(), Some(2), "{verb:?}: {}", stderr(&output));
        let said = stderr(&output);
        let named = [&one, &other].map(|instance| said.contains(&instance.display().to_string()));
        assert_eq!(named, [true, true], "{verb:?}: {said}");
    }
    let chosen = home.colo(&["recover", &other.display().to_string()]);
    assert_eq!(chosen.status.code(), Some(0), "{}", stderr(&chosen));
}
