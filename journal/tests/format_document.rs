//! The document and the code say the same.

use std::collections::BTreeMap;

use journal::layout::{self, control, frame, registry};

/// Rows of the document's tables: first cell, second cell.
fn rows() -> BTreeMap<String, u64> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/journal-format.md");
    let text = std::fs::read_to_string(path).expect("the document is there");
    text.lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
            let (name, offset) = (cells.next()?, cells.next()?);
            Some((name.to_owned(), offset.parse().ok()?))
        })
        .collect()
}

#[test]
fn offsets_in_the_document_are_those_of_the_layout() {
    let rows = rows();
    let words = [
        ("MAGIC", control::MAGIC),
        ("VERSION", control::VERSION),
        ("LAYOUT_HASH", control::LAYOUT_HASH),
        ("ID", control::ID),
        ("CAPACITY", control::CAPACITY),
        ("TABLES", control::TABLES),
        ("CREATED", control::CREATED),
        ("MAX_PAYLOAD", control::MAX_PAYLOAD),
        ("NAME", control::NAME),
        ("WRITER", control::WRITER),
        ("WRITER_START", control::WRITER_START),
        ("EPOCH", control::EPOCH),
        ("WRITER_STATE", control::WRITER_STATE),
        ("HEAD", control::HEAD),
        ("FRAMES", control::FRAMES),
        ("LAST_TIME", control::LAST_TIME),
        ("INTENT", control::INTENT),
        ("FULL", control::FULL),
        ("WAKES", control::WAKES),
        ("GATED", control::GATED),
        ("LOOSE", control::LOOSE),
        ("CURSORS", control::CURSORS),
        ("commit", frame::COMMIT),
        ("length", frame::SHAPE),
        ("time", frame::TIME),
        ("topic", frame::ORIGIN),
    ];
    for (name, word) in words {
        assert_eq!(rows.get(name), Some(&(word as u64 * 8)), "{name}");
    }
    assert_eq!(rows.len(), words.len() + 3, "id, flags and epoch share words with others: {rows:?}");
    println!("{} offsets; layout hash {:#018x}", words.len(), layout::layout_hash());
}

#[test]
fn sizes_in_the_document_are_those_of_the_layout() {
    assert_eq!(layout::FORMAT_VERSION, 1);
    assert_eq!(frame::HEADER_BYTES, 32);
    assert_eq!(layout::first_position(1 << 20), 1 << 20);
    assert_eq!(layout::frame_bytes(33), 128);
    assert_eq!(layout::max_payload(1 << 20), (1 << 17) - 32);
    assert_eq!(layout::max_payload(64 << 20), (1 << 20) - 32);
    assert_eq!(layout::stride(1 << 20), 1 << 17);
    assert_eq!(layout::interest_start(64) * 8, 1_024 + 64 * 64);
    assert_eq!(layout::control_bytes(64, 1), (1_024_u64 + 64 * 64 + 8).next_multiple_of(4_096));
    assert_eq!((registry::RECORDS * 8, registry::RECORD_WORDS * 8, registry::WAIT), (4_096, 1_024, 0));
}
