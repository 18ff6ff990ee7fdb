//! `recorder/tests/vectors/`: a small recording whose bytes never change, for readers in other languages. Three segments: one
//! closed, one closed and compressed, one whose last cut was never finished; with a gap, cursors, a time on disk, a damaged block and a
//! segment that was removed. After a wanted change: `cargo xtask gen`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use recorder::format::{
    CursorEntry, Description, FileHead, IndexEntry, Kind, LINE, RecordedJournal, SyncedEntry, What,
};
use recorder::read::{FindingKind, FrameError, NEWEST, Recording};
use recorder::write::Batch;
use serde_json::{Value, json};
use zerocopy::IntoBytes;

const RECORDING: u64 = 0x00C0_10C0_10C0_10C0;
const BEGUN: u64 = 1_795_242_600_000_000_000;

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors")
}

fn description() -> Vec<u8> {
    let journal = |number: u16, name: &str, loose| RecordedJournal {
        number,
        name: name.into(),
        id: u32::from(number) + 6,
        capacity: 65_536,
        seats: 64,
        topics: 8,
        max_payload: 8_160,
        page: 4_096,
        first_position: 65_536,
        incarnation: 1,
        loose,
        readers: Vec::new(),
    };
    serde_json::to_vec(&Description {
        instance: "demo".into(),
        recorder: "disk".into(),
        program: "0.1.0".into(),
        messages: 1,
        journal_format: 4,
        topology: json!({}),
        journals: vec![journal(1, "orders", false), journal(2, "md.quotes", true)],
    })
    .unwrap()
}

/// A frame as in `docs/journal-format.md`.
fn frame(position: u64, time: u64, id: u16, topic: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&position.to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&id.to_le_bytes());
    bytes.extend_from_slice(&0_u16.to_le_bytes());
    bytes.extend_from_slice(&time.to_le_bytes());
    bytes.extend_from_slice(&topic.to_le_bytes());
    bytes.extend_from_slice(&1_u32.to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes.resize(bytes.len().next_multiple_of(LINE), 0);
    bytes
}

/// The bytes of a segment, with what its index has to say.
struct Segment {
    bytes: Vec<u8>,
    rows: Vec<IndexEntry>,
}

fn add(batch: &mut Batch, kind: Kind, journal: u16, position: u64, frames: u64, payload: &[u8]) {
    let fill = |bytes: &mut Vec<u8>| {
        bytes.extend_from_slice(payload);
        Ok::<_, Infallible>((position, frames))
    };
    let Ok(_) = batch.block(kind, journal, fill);
}

impl Segment {
    fn begin(batch: &mut Batch, number: u32, created: u64) -> Segment {
        let head = FileHead::new(number, RECORDING, batch.next(), batch.chain(), created);
        let mut segment = Segment { bytes: head.as_bytes().to_vec(), rows: Vec::new() };
        batch.begin_segment(number);
        batch.begin_cut(created);
        add(batch, Kind::Description, 0, 0, 0, &description());
        segment.finish_cut(batch);
        segment
    }

    fn finish_cut(&mut self, batch: &mut Batch) {
        batch.close_cut();
        self.write(batch);
    }

    fn write(&mut self, batch: &mut Batch) {
        let bytes = batch.seal().to_vec();
        for (offset, head) in batch.heads().filter(|(_, head)| head.kind() == Some(Kind::Frames)) {
            self.rows.push(IndexEntry {
                journal: head.journal,
                reserved: 0.into(),
                frames_before: 0.into(),
                offset: ((self.bytes.len() + offset) as u64).into(),
                position: head.position,
                end: (head.position.get() + u64::from(head.length.get())).into(),
                time: head.time,
            });
        }
        self.bytes.extend_from_slice(&bytes);
        batch.clear();
    }

    /// With index and end.
    fn close(mut self, batch: &Batch) -> Vec<u8> {
        let mut last = Batch::new(batch_segment(&self.bytes), batch.next(), batch.chain());
        last.begin_cut(batch.time());
        let rows: Vec<u8> = self.rows.iter().flat_map(|row| row.as_bytes().to_vec()).collect();
        add(&mut last, Kind::Index, 0, 0, 0, &rows);
        add(&mut last, Kind::End, 0, 0, 0, &(self.bytes.len() as u64).to_le_bytes());
        last.close_cut();
        self.bytes.extend_from_slice(last.seal());
        self.bytes
    }
}

fn batch_segment(bytes: &[u8]) -> u32 {
    FileHead::read(bytes).unwrap().number.get()
}

/// zstd's seekable format, in two frames.
fn compressed(bytes: &[u8]) -> Vec<u8> {
    let (mut file, mut table) = (Vec::new(), Vec::new());
    for piece in bytes.chunks(1_024) {
        let small = zstd::bulk::compress(piece, 3).unwrap();
        table.extend_from_slice(&(small.len() as u32).to_le_bytes());
        table.extend_from_slice(&(piece.len() as u32).to_le_bytes());
        file.extend_from_slice(&small);
    }
    let frames = (table.len() / 8) as u32;
    table.extend_from_slice(&frames.to_le_bytes());
    table.push(0);
    table.extend_from_slice(&0x8F92_EAB1_u32.to_le_bytes());
    file.extend_from_slice(&0x184D_2A5E_u32.to_le_bytes());
    file.extend_from_slice(&(table.len() as u32).to_le_bytes());
    file.extend_from_slice(&table);
    file
}

/// All files by name.
fn made() -> Vec<(&'static str, Vec<u8>)> {
    let mut batch = Batch::new(1, 1, 0);
    let mut first = Segment::begin(&mut batch, 1, BEGUN);
    let (mut orders, mut quotes) = (65_536, 65_536);
    let (mut damaged, mut before) = (0..0, 0);
    for cut in 1..=4_u64 {
        let time = BEGUN + cut * 1_000;
        batch.begin_cut(time);
        let two = [
            frame(quotes, time - 20, 2, 3, &[cut as u8; 40]),
            frame(quotes + 128, time - 10, 2, 4, &[cut as u8; 16]),
        ];
        add(&mut batch, Kind::Frames, 2, quotes, 2, &two.concat());
        quotes += two.concat().len() as u64;
        add(&mut batch, Kind::Frames, 1, orders, 1, &frame(orders, time - 5, 10, 0, b"an order"));
        orders += 64;
        if cut == 2 {
            add(&mut batch, Kind::Gap, 2, quotes, 0, &640_u64.to_le_bytes());
            quotes += 640;
            let entry = CursorEntry {
                journal: 1.into(),
                seat: 5.into(),
                what: (What::Reader as u16).into(),
                reserved: 0.into(),
                first: orders.into(),
                second: 0.into(),
            };
            add(&mut batch, Kind::Cursors, 0, 0, 0, entry.as_bytes());
        }
        if cut == 4 {
            let entry = SyncedEntry { cut: before.into(), time: (time - 700).into() };
            add(&mut batch, Kind::Synced, 0, 0, 0, entry.as_bytes());
        }
        before = batch.cut();
        let start = first.bytes.len();
        first.finish_cut(&mut batch);
        if cut == 3 {
            damaged = start..first.bytes.len();
        }
    }
    let mut first = first.close(&batch);
    // A bit of the quotes of the third cut.
    first[damaged.start + LINE + 50] ^= 4;

    let mut second = Segment::begin(&mut batch, 2, BEGUN + 5_000);
    for cut in 6..=8_u64 {
        batch.begin_cut(BEGUN + cut * 1_000);
        add(&mut batch, Kind::Frames, 1, orders, 1, &frame(orders, BEGUN + cut * 1_000 - 5, 10, 0, &[7; 90]));
        orders += 128;
        second.finish_cut(&mut batch);
    }
    let second = second.close(&batch);
    // The third was removed.
    let removed_first = batch.next();
    let _third = Segment::begin(&mut batch, 3, BEGUN + 9_000);
    let removed = json!({
        "segment": 3, "first_block": removed_first, "blocks_end": batch.next(), "last_time_ns": BEGUN + 9_000,
        "bytes": 4_096, "removed_ns": BEGUN + 99_000,
    });
    let mut fourth = Segment::begin(&mut batch, 4, BEGUN + 10_000);
    for cut in 11..=12_u64 {
        batch.begin_cut(BEGUN + cut * 1_000);
        add(&mut batch, Kind::Frames, 1, orders, 1, &frame(orders, BEGUN + cut * 1_000 - 5, 11, 0, &[9; 8]));
        orders += 64;
        match cut {
            // The cut at the end was never finished.
            12 => fourth.write(&mut batch),
            _ => fourth.finish_cut(&mut batch),
        }
    }
    let mut fourth = fourth.bytes;
    fourth.extend_from_slice(&[0; 1_024]);
    vec![
        ("00000001.seg", first),
        ("00000002.seg.zst", compressed(&second)),
        ("00000004.seg", fourth),
        ("removed.jsonl", format!("{removed}\n").into_bytes()),
    ]
}

/// As the script prints it.
fn read(folder: &Path) -> Vec<Value> {
    let recording = Recording::open(folder).unwrap();
    let mut lines = Vec::new();
    for journal in &recording.description().journals {
        let mut frames = recording.frames(journal, 0);
        loop {
            let line = match frames.next() {
                Ok(Some(frame)) => {
                    let payload: String = frame.payload.iter().map(|byte| format!("{byte:02x}")).collect();
                    json!({
                        "journal": journal.name, "position": frame.position, "time": frame.time, "id": frame.message_id,
                        "topic": frame.topic, "epoch": frame.epoch, "payload": payload,
                    })
                }
                Ok(None) => break,
                Err(FrameError::Missing { from, to, what, .. }) => {
                    json!({ "journal": journal.name, "missing": from, "to": to, "why": what })
                }
                Err(error) => panic!("{error}"),
            };
            lines.push(line);
        }
    }
    lines
}

#[test]
fn the_bytes_of_each_golden_file_are_those_that_this_version_writes() {
    let expected =
        |folder: &Path| -> String { read(folder).iter().map(|line| format!("{line}\n")).collect() };
    if golden::writes() {
        fs::create_dir_all(vectors()).unwrap();
        made().iter().for_each(|(name, bytes)| fs::write(vectors().join(name), bytes).unwrap());
        fs::write(vectors().join("expected.jsonl"), expected(&vectors())).unwrap();
    }
    for (name, bytes) in made() {
        // Another zstd may compress the same bytes otherwise.
        if !name.ends_with(".zst") {
            assert!(fs::read(vectors().join(name)).unwrap() == bytes, "{name} differs");
        }
    }
    assert_eq!(expected(&vectors()), fs::read_to_string(vectors().join("expected.jsonl")).unwrap());
}

#[test]
fn what_is_wrong_with_the_vectors_is_named() {
    let recording = Recording::open(&vectors()).unwrap();
    let verified = recording.verify().unwrap();
    let named = |kind: FindingKind| verified.findings.iter().filter(|finding| finding.kind == kind).count();
    assert_eq!(named(FindingKind::Damage), 1, "{:?}", verified.findings);
    assert_eq!((named(FindingKind::Gap), named(FindingKind::Torn), named(FindingKind::Removed)), (1, 1, 1));
    assert_eq!(recording.unfinished().unwrap().len(), 1);
    assert_eq!(recording.end().time, BEGUN + 11_000);
    // Of one cut it is said when it was on disk: of the third.
    let orders = recording.description().journal("orders").unwrap();
    let synced = |cut: u64| recording.synced(orders, 65_536 + 64 * (cut - 1)).unwrap();
    assert_eq!((synced(2), synced(3), synced(4)), (None, Some(BEGUN + 3_300), None));
}

#[test]
fn a_reader_in_python_reads_the_same() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/readers/recording.py");
    let run =
        |arguments: &[&str]| Command::new("python3").arg(&script).arg(vectors()).args(arguments).output();
    let has_zstd = Command::new("zstd").arg("--version").output().is_ok();
    let Ok(output) = run(&[]) else {
        println!("skipped: there is no python3");
        return;
    };
    if !has_zstd {
        println!("skipped: there is no zstd");
        return;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = fs::read_to_string(vectors().join("expected.jsonl")).unwrap();
    let expected: Vec<Value> = expected.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let frames = expected.len();
    assert!(frames > 10);
    assert_eq!(lines[..frames], expected);
    // One damaged block, and a summary.
    assert_eq!((lines.len(), &lines[frames]["damage"]["blocks"]), (frames + 2, &json!(1)), "{text}");
    let summary = lines.last().unwrap();
    assert_eq!(summary["recording"], format!("{RECORDING:016x}"));
    assert_eq!((&summary["segments"], &summary["closed"]), (&json!([1, 2, 4]), &json!([1, 2])));
    assert_eq!((&summary["removed_segments"], &summary["missing_segments"]), (&json!([3]), &json!([])));
    assert_eq!((&summary["unfinished_blocks"], &summary["time"]), (&json!(1), &json!(BEGUN + 11_000)));
    assert_eq!(summary["lacks_end"], false, "nothing says that there was more");
    let since = format!("{}", BEGUN + 7_000);
    let late = run(&["--journal", "orders", "--since", &since]).unwrap();
    let late = String::from_utf8(late.stdout).unwrap();
    assert_eq!(late.lines().filter(|line| line.contains("\"payload\"")).count(), 2, "{late}");
}

#[test]
fn a_reader_in_python_misses_the_end_where_the_segment_that_was_begun_last_is_not_there() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/readers/recording.py");
    let folder = tempfile::tempdir().unwrap();
    for name in ["00000001.seg", "00000004.seg", "removed.jsonl"] {
        fs::copy(vectors().join(name), folder.path().join(name)).unwrap();
    }
    // A newest segment; what is missing; whether that is the end. The second is not copied, the third was removed.
    for (newest, missing, lacks_end) in [
        ("0000000004\n", json!([2]), false),
        ("0000000005\n", json!([2, 5]), true),
        ("torn", json!([2]), false),
    ] {
        fs::write(folder.path().join(NEWEST), newest).unwrap();
        let run = Command::new("python3").arg(&script).arg(folder.path()).arg("--summary").output();
        let Ok(output) = run else {
            println!("skipped: there is no python3");
            return;
        };
        let text = String::from_utf8(output.stdout).unwrap();
        let summary: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(
            (&summary["missing_segments"], &summary["lacks_end"]),
            (&missing, &json!(lacks_end)),
            "{text}"
        );
        let recording = Recording::open(folder.path()).unwrap();
        assert_eq!(
            (json!(recording.missing()), recording.lacks_end().is_some()),
            (missing, lacks_end),
            "{newest}"
        );
    }
}
