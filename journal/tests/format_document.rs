//! The document and the code agree.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;

use journal::layout::{self, control, frame, registry};

fn document() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/journal-format.md");
    std::fs::read_to_string(path).expect("the document is there")
}

/// Rows of the document's tables that name an offset: first cell, second cell.
fn rows() -> BTreeMap<String, usize> {
    let mut rows = BTreeMap::new();
    for line in document().lines() {
        let Some(row) = line.strip_prefix('|') else { continue };
        let mut cells = row.split('|').map(str::trim);
        let (Some(name), Some(offset)) = (cells.next(), cells.next()) else { continue };
        if let Ok(offset) = offset.parse() {
            assert!(rows.insert(name.to_owned(), offset).is_none(), "{name} twice");
        }
    }
    rows
}

/// Every constant of the layout that is an index of a word, by its name in the document; bytes within it.
const WORDS: &[(&str, usize, usize)] = &[
    ("frame.commit", frame::COMMIT, 0),
    ("frame.length", frame::SHAPE, 0),
    ("frame.id", frame::SHAPE, 4),
    ("frame.flags", frame::SHAPE, 6),
    ("frame.time", frame::TIME, 0),
    ("frame.topic", frame::ORIGIN, 0),
    ("frame.epoch", frame::ORIGIN, 4),
    ("frame.payload", frame::HEADER_WORDS, 0),
    ("control.MAGIC", control::MAGIC, 0),
    ("control.VERSION", control::VERSION, 0),
    ("control.LAYOUT_HASH", control::LAYOUT_HASH, 0),
    ("control.ID", control::ID, 0),
    ("control.CAPACITY", control::CAPACITY, 0),
    ("control.TABLES", control::TABLES, 0),
    ("control.CREATED", control::CREATED, 0),
    ("control.MAX_PAYLOAD", control::MAX_PAYLOAD, 0),
    ("control.NAME", control::NAME, 0),
    ("control.WRITER", control::WRITER, 0),
    ("control.WRITER_START", control::WRITER_START, 0),
    ("control.EPOCH", control::EPOCH, 0),
    ("control.WRITER_STATE", control::WRITER_STATE, 0),
    ("control.FIRST", control::FIRST, 0),
    ("control.INCARNATION", control::INCARNATION, 0),
    ("control.IDENTITY", control::IDENTITY, 0),
    ("control.HEAD", control::HEAD, 0),
    ("control.FRAMES", control::FRAMES, 0),
    ("control.LAST_TIME", control::LAST_TIME, 0),
    ("control.TALLY", control::TALLY, 0),
    ("control.INTENT", control::INTENT, 0),
    ("control.FULL", control::FULL, 0),
    ("control.WAKES", control::WAKES, 0),
    ("control.GATED", control::GATED, 0),
    ("control.LOOSE", control::LOOSE, 0),
    ("control.DURABLE", control::DURABLE, 0),
    ("control.DURABLE_WAITERS", control::DURABLE_WAITERS, 0),
    ("control.MARKS", control::MARKS, 0),
    ("control.CURSORS", control::CURSORS, 0),
    ("cursor.POSITION", control::CURSOR_POSITION, 0),
    ("cursor.LOST", control::CURSOR_LOST, 0),
    ("cursor.GAPS", control::CURSOR_GAPS, 0),
    ("cursor.FRAMES", control::CURSOR_FRAMES, 0),
    ("cursor.KEPT", control::CURSOR_KEPT, 0),
    ("cursor.OWED", control::CURSOR_OWED, 0),
    ("registry.MAGIC", registry::MAGIC, 0),
    ("registry.VERSION", registry::VERSION, 0),
    ("registry.LAYOUT_HASH", registry::LAYOUT_HASH, 0),
    ("registry.SEATS", registry::SEATS, 0),
    ("registry.PHASE", registry::PHASE, 0),
    ("registry.NAMESPACE", registry::NAMESPACE, 0),
    ("registry.CLOCK_KIND", registry::CLOCK_KIND, 0),
    ("registry.CLOCK_BASE", registry::CLOCK_BASE, 0),
    ("registry.CLOCK_EPOCH", registry::CLOCK_EPOCH, 0),
    ("registry.CLOCK_SCALE", registry::CLOCK_SCALE, 0),
    ("registry.CLOCK_OFFSET", registry::CLOCK_OFFSET, 0),
    ("registry.FENCES", registry::FENCES, 0),
    ("registry.NOTIFY", registry::NOTIFY, 0),
    ("registry.RECORDS", registry::RECORDS, 0),
    ("seat.WAIT", registry::WAIT, 0),
    ("seat.PID", registry::PID, 0),
    ("seat.START", registry::START, 0),
    ("seat.GENERATION", registry::GENERATION, 0),
    ("seat.STATE", registry::STATE, 0),
    ("seat.KIND", registry::KIND, 0),
    ("seat.EXIT", registry::EXIT, 0),
    ("seat.ASKED", registry::ASKED, 0),
    ("seat.HEARTBEAT", registry::HEARTBEAT, 0),
    ("seat.CPU", registry::CPU, 0),
    ("seat.NAME", registry::NAME, 0),
    ("seat.COUNTERS", registry::COUNTERS, 0),
    ("seat.BELL", registry::BELL, 0),
    ("seat.BELL_ALL", registry::BELL_ALL, 0),
    ("seat.LATER_COUNTERS", registry::LATER_COUNTERS, 0),
    ("seat.RELAY", registry::RELAY, 0),
    ("seat.ANSWERS", registry::ANSWERS, 0),
    ("seat.UNDELIVERED", registry::UNDELIVERED, 0),
    ("seat.AT_RISK", registry::AT_RISK, 0),
    ("seat.MORE_COUNTERS", registry::MORE_COUNTERS, 0),
];

#[test]
fn offsets_in_the_document_are_those_of_the_layout() {
    let rows = rows();
    for &(name, word, byte) in WORDS {
        assert_eq!(rows.get(name), Some(&(word * 8 + byte)), "{name}");
    }
    let known: Vec<_> = WORDS.iter().map(|&(name, ..)| name).collect();
    for name in rows.keys() {
        assert!(known.contains(&name.as_str()), "the document's {name} is checked by nothing");
    }
    println!("{} offsets are the same", WORDS.len());
}

/// A constant of the layout that is not an offset is named in the source by a sentence of the document.
#[test]
fn every_constant_of_the_layout_is_in_the_document() {
    let source = include_str!("../src/layout.rs");
    let text = document();
    let mut section = "";
    let mut checked = 0;
    for line in source.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("pub mod ") {
            section = name.trim_end_matches(" {");
        }
        let Some((name, _)) = line.strip_prefix("pub const ").and_then(|rest| rest.split_once(": usize = "))
        else {
            continue;
        };
        let names = match section {
            "frame" | "lock" => continue,
            "control" => vec![format!("control.{name}"), name.replace("CURSOR_", "cursor.")],
            _ => vec![format!("registry.{name}"), format!("seat.{name}")],
        };
        let sizes = [
            "LINE_WORDS",
            "WORD_BYTES",
            "MAX_NAME",
            "CLASSES",
            "MARK_COUNT",
            "RECORD_WORDS",
            "COUNTER_COUNT",
            "ALL_COUNTER_COUNT",
            "LATER_COUNTER_COUNT",
            "BELL_WORDS",
            "NOTIFY_BELL",
            "NOTIFY_RELAY",
            "NOTIFY_WORDS",
        ];
        assert!(
            sizes.contains(&name) || names.iter().any(|name| text.contains(&format!("| {name} |"))),
            "{section}::{name} is not in the document"
        );
        checked += 1;
    }
    println!("{checked} constants are in the document");
    assert!(checked > 50);
}

#[test]
fn numbers_in_the_document_are_those_of_the_layout() {
    let text = document();
    let says = |sentence: &str| assert!(text.contains(sentence), "the document does not say: {sentence}");
    says(&format!("# The journal format, version {}", layout::FORMAT_VERSION));
    says(&format!("**`{:#018x}`**", layout::layout_hash()));
    says(&format!("`{}`", std::str::from_utf8(&layout::CONTROL_MAGIC.to_le_bytes()).unwrap()));
    says(&format!("`{}`", std::str::from_utf8(&layout::REGISTRY_MAGIC.to_le_bytes()).unwrap()));
    says(&format!("`{}`", std::str::from_utf8(&layout::LOCK_MAGIC.to_le_bytes()).unwrap()));
    says(&format!("| {} | the writer |", layout::lock::WRITER_BYTE));
    says(&format!("| {} + s | the gated", layout::lock::SEAT_BYTES));
    says(&format!("1024 | {} words: positions", control::MARK_COUNT));
    says(&format!("from {} to {} (64 KiB to 64 GiB)", layout::MIN_CAPACITY, layout::MAX_CAPACITY));
    says(&format!("a *line* is {} bytes", layout::LINE_BYTES));
    says(&format!("A *word* is {} bytes", layout::WORD_BYTES));
    says(&format!("A header of {} bytes", frame::HEADER_BYTES));
    says(&format!("is 1 to {} bytes of `a-z`", layout::MAX_NAME));
    says(&format!("a multiple of 64 up to {}; u32 topics, 1 to {}", layout::MAX_SEATS, layout::MAX_TOPICS));
    says(&format!(
        "a record of {} bytes for each seat from offset {}",
        registry::RECORD_WORDS * 8,
        registry::RECORDS * 8
    ));
    says(&format!("256 | {} words", registry::COUNTER_COUNT));
    says(&format!("280 | {} words: frames by class", control::CLASSES));
    says(&format!("704 | {} words, as control.TALLY", control::CLASSES));
    says(&format!("768 | {} words", registry::ALL_COUNTER_COUNT - registry::COUNTER_COUNT));
    says(&format!("512 | {} words", registry::BELL_WORDS - 1));
    says(&format!("bit `ID mod {}`", (registry::BELL_WORDS - 1) * 64));
    assert_eq!((registry::NOTIFY_BELL, registry::NOTIFY_RELAY, registry::NOTIFY_WORDS), (0, 1, 2));
    says(&format!("at `{} + 64 × seats`", control::CURSORS * 8));
    // Values that the document states in formulas.
    assert_eq!(layout::MAX_POSITION, 1 << 63);
    for capacity in [layout::MIN_CAPACITY, 1 << 20, 64 << 20, layout::MAX_CAPACITY] {
        assert_eq!(layout::first_position(capacity), capacity);
        assert_eq!(layout::max_payload(capacity), (capacity / 8).min(1 << 20) - 32);
        assert_eq!(layout::stride(capacity), capacity / 8);
        assert_eq!(layout::max_reach(capacity), capacity / 4 + 64);
    }
    assert_eq!((layout::frame_bytes(0), layout::frame_bytes(32), layout::frame_bytes(33)), (64, 64, 128));
    for (seats, topics) in [(64, 1), (128, 16), (1_024, 4_096)] {
        let table = 1_536 + 64 * u64::from(seats);
        assert_eq!(layout::interest_start(seats) as u64 * 8, table);
        let end = table + u64::from(topics) * u64::from(seats) / 64 * 8;
        assert_eq!(layout::control_bytes(seats, topics), end.next_multiple_of(4_096));
        assert_eq!(layout::registry_bytes(seats), 4_096 + 1_024 * u64::from(seats));
    }
    assert_eq!(layout::frames_word(7, 130 * 64), 7 << 16 | 130);
    println!("layout hash {:#018x}", layout::layout_hash());
}
