//! The constants of journals and the registry.

use journal::layout::{self, WORD_BYTES, control, frame, lock, registry};

use super::{Constant, Group, Value};

/// A group of constants of one module. `words` are turned into bytes, `plain` ones stay.
macro_rules! group {
    ($doc:literal, $module:ident, words: [$($word:ident),* $(,)?], plain: [$($plain:ident),* $(,)?]) => {
        Group {
            doc: $doc.to_owned(),
            constants: vec![
                $(small(&name(stringify!($module), stringify!($word)), ($module::$word * WORD_BYTES) as u64),)*
                $(small(&name(stringify!($module), stringify!($plain)), $module::$plain as u64),)*
            ],
        }
    };
}

fn name(module: &str, constant: &str) -> String {
    // What lies in a cursor or a seat's record is counted from its start.
    match (module, constant) {
        ("control", cursor) if cursor.starts_with("CURSOR_") => cursor.to_owned(),
        (module, constant) => format!("{}_{constant}", module.to_uppercase()),
    }
}

fn small(name: &str, value: u64) -> Constant {
    let value = u32::try_from(value).map_or(Value::Word(value), Value::Small);
    Constant { name: name.to_owned(), value, doc: String::new() }
}

fn word(name: &str, value: u64, doc: &str) -> Constant {
    Constant { name: name.to_owned(), value: Value::Word(value), doc: doc.to_owned() }
}

/// What `docs/journal-format.md` gives names to.
pub fn journals() -> Vec<Group> {
    let general = Group {
        doc: "What every file begins with, and what nothing exceeds.".to_owned(),
        constants: vec![
            word("LAYOUT_HASH", layout::layout_hash(), "differs between any two layouts"),
            small("FORMAT_VERSION", layout::FORMAT_VERSION.into()),
            word("CONTROL_MAGIC_WORD", layout::CONTROL_MAGIC, "COLOJRNL"),
            word("LOCK_MAGIC_WORD", layout::LOCK_MAGIC, "COLOLOCK"),
            word("REGISTRY_MAGIC_WORD", layout::REGISTRY_MAGIC, "COLOSEAT"),
            small("LINE_BYTES", layout::LINE_BYTES),
            small("WORD_BYTES", WORD_BYTES as u64),
            small("MIN_CAPACITY", layout::MIN_CAPACITY),
            word("MAX_CAPACITY", layout::MAX_CAPACITY, ""),
            small("MAX_PAYLOAD", layout::MAX_PAYLOAD),
            small("MAX_SEATS", layout::MAX_SEATS.into()),
            small("MAX_TOPICS", layout::MAX_TOPICS.into()),
            word("MAX_POSITION", layout::MAX_POSITION, "positions stay below it"),
            small("MAX_NAME", layout::MAX_NAME as u64),
            small("MAX_BATCH", layout::batch_bytes(layout::MAX_CAPACITY)),
        ],
    };
    // Fields of a header that share a word, by their bytes in it.
    let shape = (frame::SHAPE * WORD_BYTES) as u64;
    let origin = (frame::ORIGIN * WORD_BYTES) as u64;
    let header = Group {
        doc: "A frame's header: bytes from the frame's start.".to_owned(),
        constants: vec![
            small("FRAME_COMMIT", (frame::COMMIT * WORD_BYTES) as u64),
            small("FRAME_LENGTH", shape),
            small("FRAME_ID", shape + 4),
            small("FRAME_FLAGS", shape + 6),
            small("FRAME_TIME", (frame::TIME * WORD_BYTES) as u64),
            small("FRAME_TOPIC", origin),
            small("FRAME_EPOCH", origin + 4),
            small("FRAME_PAYLOAD", frame::HEADER_BYTES),
            small("FRAME_VOID", frame::VOID.into()),
            small("FRAME_APPENDED", frame::APPENDED.into()),
            small("FRAME_RECORD", frame::RECORD.into()),
        ],
    };
    vec![
        general,
        header,
        group!("The control file: bytes from its start; cursors: from their line's.", control,
            words: [MAGIC, VERSION, LAYOUT_HASH, ID, CAPACITY, TABLES, CREATED, MAX_PAYLOAD, NAME, WRITER, WRITER_START,
                EPOCH, WRITER_STATE, FIRST, INCARNATION, IDENTITY, HEAD, FRAMES, LAST_TIME, TALLY, INTENT, FULL, WAKES,
                GATED, LOOSE, DURABLE, DURABLE_WAITERS, MARKS, CURSORS, CURSOR_POSITION, CURSOR_LOST, CURSOR_GAPS,
                CURSOR_FRAMES, CURSOR_KEPT, CURSOR_OWED],
            plain: [CLASSES, MARK_COUNT]),
        group!("The registry: bytes from its start; from WAIT on: from the start of a seat's record.", registry,
            words: [MAGIC, VERSION, LAYOUT_HASH, SEATS, NAMESPACE, PHASE, CLOCK_KIND, CLOCK_BASE, CLOCK_EPOCH,
                CLOCK_SCALE, CLOCK_OFFSET, FENCES, NOTIFY, NOTIFY_BELL, NOTIFY_RELAY, RECORDS, WAIT, PID, START,
                GENERATION, STATE, KIND, EXIT, ASKED, HEARTBEAT, CPU, NAME, COUNTERS, BELL, BELL_ALL, RELAY, ANSWERS,
                UNDELIVERED, AT_RISK, MORE_COUNTERS, LATER_COUNTERS],
            plain: [NOTIFY_WORDS, RECORD_WORDS, COUNTER_COUNT, BELL_WORDS, ALL_COUNTER_COUNT,
                LATER_COUNTER_COUNT]),
        group!("The lock file.", lock, words: [MAGIC, IDENTITY], plain: [WORDS, WRITER_BYTE, SEAT_BYTES]),
    ]
}
