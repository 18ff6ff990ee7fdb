//! All offsets that processes share. `docs/journal-format.md` states the same in words; the assertions here hold both
//! to the code.
//!
//! All shared memory is an array of little-endian `u64` words. Offsets below are in words unless they end in
//! `_BYTES`.

/// Frames start on a line of this many bytes: the unit that moves between cores.
pub const LINE_BYTES: u64 = 64;
/// Words in a line.
pub const LINE_WORDS: usize = 8;
/// Bytes in a word.
pub const WORD_BYTES: usize = 8;

/// `COLOJRNL`, as the first eight bytes of a control file.
pub const CONTROL_MAGIC: u64 = u64::from_le_bytes(*b"COLOJRNL");
/// `COLOLOCK`, as the first eight bytes of a lock file.
pub const LOCK_MAGIC: u64 = u64::from_le_bytes(*b"COLOLOCK");
/// `COLOSEAT`, as the first eight bytes of a registry file.
pub const REGISTRY_MAGIC: u64 = u64::from_le_bytes(*b"COLOSEAT");
/// Grows with every change that an older reader would misread.
pub const FORMAT_VERSION: u32 = 4;

/// Smallest ring.
pub const MIN_CAPACITY: u64 = 64 << 10;
/// Largest ring.
pub const MAX_CAPACITY: u64 = 64 << 30;
/// Largest payload of any journal; a small ring takes less, see [`max_payload`].
pub const MAX_PAYLOAD: u64 = 1 << 20;
/// Seats an instance can have.
pub const MAX_SEATS: u32 = 1_024;
/// Topics a journal can have.
pub const MAX_TOPICS: u32 = 4_096;
/// Positions stay below this: 29 years at 10 GB/s. A journal that gets there answers "full" for ever, and a word
/// that claims more is damage, so that no sum of a position and a capacity ever overflows.
pub const MAX_POSITION: u64 = 1 << 63;
/// Longest name of a journal or node in bytes.
pub const MAX_NAME: usize = 63;

/// A frame: a header, then the payload, padded with zeros to whole lines.
///
/// ```text
///  byte 0               8         12      14      16       24      28       32
///       ┌───────────────┬─────────┬───────┬───────┬────────┬───────┬────────┬───────────────┄
///       │ commit        │ length  │ id    │ flags │ time   │ topic │ epoch  │ payload
///       │ u64           │ u32     │ u16   │ u16   │ u64 ns │ u32   │ u32    │ `length` bytes
///       └───────────────┴─────────┴───────┴───────┴────────┴───────┴────────┴───────────────┄
///  word 0               1                         2        3                4
/// ```
pub mod frame {
    /// The frame's own stream position once it is whole; zero before.
    pub const COMMIT: usize = 0;
    /// Payload length (low 32 bits), message id (16), flags (16).
    pub const SHAPE: usize = 1;
    /// Publish time in nanoseconds since the epoch, on the platform's clock.
    pub const TIME: usize = 2;
    /// Topic (low 32 bits), writer's epoch (high 32).
    pub const ORIGIN: usize = 3;
    /// Words of a header.
    pub const HEADER_WORDS: usize = 4;
    /// Bytes of a header.
    pub const HEADER_BYTES: u64 = 32;

    /// Flag: the frame says nothing; readers pass over it. Its payload is arbitrary.
    pub const VOID: u16 = 1 << 15;
    /// Flag: time and topic are those that the frame had in another journal.
    pub const APPENDED: u16 = 1 << 14;
    /// The other bits of the flags: bytes of each record of the payload; zero when the payload is one message.
    pub const RECORD: u16 = APPENDED - 1;
}

/// The control file: writer, head, readers and interest.
///
/// ```text
///  line  0      identity of the journal, never changes
///        1      its name
///        2      identity and epoch of the writer: changes when one attaches or leaves
///        3      where the positions begin, and which lock file belongs to this page: never changes
///        4      head, frame count, last time, tally: the writer, at every frame
///        5      intent: the writer, once a stride
///        6      writer's counters
///        8..10  bitmap of gated readers, one bit a seat
///        10..12 bitmap of loose readers
///        12..14 bitmap of readers that write to disk what they read
///        14..16 bitmap of seats to notify when more is on disk
///        16..24 marks: where frames start
///        24..   cursors, one line a seat
///        then   interest: one row of seat bits a topic
/// ```
pub mod control {
    /// [`CONTROL_MAGIC`](super::CONTROL_MAGIC).
    pub const MAGIC: usize = 0;
    /// Format version (low 32 bits); high 32 zero.
    pub const VERSION: usize = 1;
    /// [`layout_hash`](super::layout_hash).
    pub const LAYOUT_HASH: usize = 2;
    /// Journal id (low 32 bits), size of the ring's pages as a power of two (high 32).
    pub const ID: usize = 3;
    /// Ring capacity in bytes, a power of two.
    pub const CAPACITY: usize = 4;
    /// Seats (low 32 bits, a multiple of 64), topics (high 32, at least 1).
    pub const TABLES: usize = 5;
    /// Creation time, nanoseconds since the epoch.
    pub const CREATED: usize = 6;
    /// Largest payload of this journal in bytes.
    pub const MAX_PAYLOAD: usize = 7;
    /// 64 bytes of name, padded with zeros.
    pub const NAME: usize = 8;
    /// Writer's process id (low 32 bits), seat (high 32).
    pub const WRITER: usize = 16;
    /// Writer's start time, in clock ticks since boot (field 22 of `/proc/PID/stat`).
    pub const WRITER_START: usize = 17;
    /// How many writers have attached so far; idle readers compare it.
    pub const EPOCH: usize = 18;
    /// 0 no writer yet, 1 attached, 2 closed in good order.
    pub const WRITER_STATE: usize = 19;
    /// Position of the first frame.
    pub const FIRST: usize = 24;
    /// Which journal of this name it is, from 1 on: one that continues another's positions has the next number.
    pub const INCARNATION: usize = 25;
    /// A random number, the same as in the lock file.
    pub const IDENTITY: usize = 26;
    /// End of the committed frames.
    pub const HEAD: usize = 32;
    /// Frames committed since the journal was created (high 48 bits), and the position up to which they are counted, as
    /// the number of its line (low 16 bits). One word, so that a successor knows whether a frame was counted already.
    pub const FRAMES: usize = 33;
    /// Time of the last frame.
    pub const LAST_TIME: usize = 34;
    /// Frames by class; the application that writes the journal defines the classes. A counting writer counts each
    /// frame once, in order, right behind the commit; so the frames that a dead one left uncounted are the last ones.
    pub const TALLY: usize = 35;
    /// Number of classes.
    pub const CLASSES: usize = 5;
    /// The writer may touch any byte before this position, and none at or after it.
    pub const INTENT: usize = 40;
    /// How often a gated reader made the writer return "full".
    pub const FULL: usize = 48;
    /// Wake-ups that the writer sent.
    pub const WAKES: usize = 49;
    /// Bitmap of gated readers, 16 words.
    pub const GATED: usize = 64;
    /// Bitmap of loose readers, 16 words.
    pub const LOOSE: usize = 80;
    /// Bitmap of gated readers whose [`CURSOR_KEPT`] says what is on disk, 16 words.
    pub const DURABLE: usize = 96;
    /// Bitmap of seats that are notified when one of these moves, 16 words.
    pub const DURABLE_WAITERS: usize = 112;
    /// Positions at which frames start, see [`mark_slot`](super::mark_slot).
    pub const MARKS: usize = 128;
    /// Number of marks.
    pub const MARK_COUNT: usize = 64;
    /// First cursor.
    pub const CURSORS: usize = 192;

    /// A cursor's words: position up to which the reader has read.
    pub const CURSOR_POSITION: usize = 0;
    /// Bytes that the seat's readers lost to laps since the journal was made.
    pub const CURSOR_LOST: usize = 1;
    /// Number of those laps.
    pub const CURSOR_GAPS: usize = 2;
    /// Frames read.
    pub const CURSOR_FRAMES: usize = 3;
    /// Gated readers: first position that the writer must not overwrite although it has been read; zero: the cursor's
    /// position.
    pub const CURSOR_KEPT: usize = 4;
    /// Of a reader that writes to disk, at its end: first position that is not on disk although the writer may overwrite
    /// it; zero: there is none.
    pub const CURSOR_OWED: usize = 5;
}

/// The registry file: instance-wide words, then one record a seat.
pub mod registry {
    /// [`REGISTRY_MAGIC`](super::REGISTRY_MAGIC).
    pub const MAGIC: usize = 0;
    /// Format version.
    pub const VERSION: usize = 1;
    /// [`layout_hash`](super::layout_hash).
    pub const LAYOUT_HASH: usize = 2;
    /// Seats.
    pub const SEATS: usize = 3;
    /// Pid namespace of master and its nodes, by inode; 0: unknown.
    pub const NAMESPACE: usize = 4;
    /// Phase of the platform.
    pub const PHASE: usize = 8;
    /// Clock: 1 time-stamp counter, 2 `CLOCK_MONOTONIC`.
    pub const CLOCK_KIND: usize = 16;
    /// Counter value at calibration.
    pub const CLOCK_BASE: usize = 17;
    /// Nanoseconds since the epoch at calibration.
    pub const CLOCK_EPOCH: usize = 18;
    /// Nanoseconds per count, 32.32 fixed point.
    pub const CLOCK_SCALE: usize = 19;
    /// For programs that cannot read the counter: the clock less `CLOCK_MONOTONIC`. Refreshed about once a second.
    pub const CLOCK_OFFSET: usize = 20;
    /// Not zero: writers make a full fence between a commit and the look at its topic's row, because some reader has no
    /// barrier to announce its interest with.
    pub const FENCES: usize = 64;
    /// How seats are notified: for each 64 seats two words, one bit a seat. They lie together, because every commit to
    /// an interested seat reads them: a line for each seat would be cold most of the time.
    pub const NOTIFY: usize = 66;
    /// In such a pair: seats with a doorbell.
    pub const NOTIFY_BELL: usize = 0;
    /// In such a pair: seats that a relay wakes instead of the writers.
    pub const NOTIFY_RELAY: usize = 1;
    /// Words of a pair.
    pub const NOTIFY_WORDS: usize = 2;
    /// First seat record.
    pub const RECORDS: usize = 512;
    /// Words of a seat record: 1 KiB.
    pub const RECORD_WORDS: usize = 128;

    /// Futex word (low 32 bits): 0 awake, 1 parked. Alone on its line.
    pub const WAIT: usize = 0;
    /// Process id.
    pub const PID: usize = 8;
    /// Start time in clock ticks since boot.
    pub const START: usize = 9;
    /// Starts in this seat.
    pub const GENERATION: usize = 10;
    /// State of the node.
    pub const STATE: usize = 11;
    /// Kind (low 16 bits) and wait mode (next 16) of the node.
    pub const KIND: usize = 12;
    /// The node's exit code plus one; zero: the node has not exited.
    pub const EXIT: usize = 13;
    /// A request of the node to another one; the numbers are the node crate's. Zero from its registration on.
    pub const ASKED: usize = 14;
    /// Last sign of life, nanoseconds on the platform's clock.
    pub const HEARTBEAT: usize = 16;
    /// CPU that the node ran on at that time.
    pub const CPU: usize = 17;
    /// 64 bytes of name.
    pub const NAME: usize = 24;
    /// Counters.
    pub const COUNTERS: usize = 32;
    /// Number of counters there.
    pub const COUNTER_COUNT: usize = 32;
    /// Doorbell: one bit a journal, by its id modulo the number of bits.
    pub const BELL: usize = 64;
    /// Last word of the doorbell. Not zero: look at every journal.
    pub const BELL_ALL: usize = 71;
    /// Words of a doorbell, with the last.
    pub const BELL_WORDS: usize = 8;
    /// Seat of the relay that wakes this one, or was the last to do so.
    pub const RELAY: usize = 80;
    /// Answers that another node wrote to this seat into a journal that several seats share, by the classes of
    /// [`control::TALLY`](super::control::TALLY).
    pub const ANSWERS: usize = 88;
    /// Abandoned answers to this seat.
    pub const UNDELIVERED: usize = 93;
    /// Answers to this seat that exist only in the memory of the answering node.
    pub const AT_RISK: usize = 94;
    /// The counters behind the first [`ALL_COUNTER_COUNT`]: a line of their own.
    pub const LATER_COUNTERS: usize = 72;
    /// Number of counters there.
    pub const LATER_COUNTER_COUNT: usize = 8;
    /// The counters after the first [`COUNTER_COUNT`].
    pub const MORE_COUNTERS: usize = 96;
    /// Number of counters in the two larger places.
    pub const ALL_COUNTER_COUNT: usize = COUNTER_COUNT + RECORD_WORDS - MORE_COUNTERS;

    /// Word of a counter within the seat's record; `None` past the last.
    pub(crate) const fn counter_word(index: usize) -> Option<usize> {
        if index < COUNTER_COUNT {
            Some(COUNTERS + index)
        } else if index < ALL_COUNTER_COUNT {
            Some(MORE_COUNTERS + index - COUNTER_COUNT)
        } else if index < ALL_COUNTER_COUNT + LATER_COUNTER_COUNT {
            Some(LATER_COUNTERS + index - ALL_COUNTER_COUNT)
        } else {
            None
        }
    }
}

/// Position of the first frame of a journal that continues no other: one capacity in, so that zero is never a valid
/// commit word, and no position less a capacity is negative.
pub const fn first_position(capacity: u64) -> u64 {
    capacity
}

/// Bytes of the stream for which there is room for one mark: a power of two, as the capacity is.
pub const fn mark_step(capacity: u64) -> u64 {
    let step = capacity / control::MARK_COUNT as u64;
    if step > LINE_BYTES { step } else { LINE_BYTES }
}

/// The number of the step that holds `position`.
pub(crate) const fn mark_number(position: u64, capacity: u64) -> u64 {
    position >> mark_step(capacity).trailing_zeros()
}

/// Word within the marks for a frame that starts at `position`. The writer leaves there the position of a frame, or
/// batch, when it declares its intent: at least once a stride.
pub(crate) const fn mark_slot(position: u64, capacity: u64) -> usize {
    mark_number(position, capacity) as usize % control::MARK_COUNT
}

/// The lock file: two words, and bytes behind them that nothing is stored in but that locks lie on.
pub mod lock {
    /// [`LOCK_MAGIC`](super::LOCK_MAGIC).
    pub const MAGIC: usize = 0;
    /// As [`control::IDENTITY`](super::control::IDENTITY).
    pub const IDENTITY: usize = 1;
    /// Words that are stored.
    pub const WORDS: usize = 2;
    /// Byte that the writer locks.
    pub const WRITER_BYTE: u64 = 64;
    /// Byte that the reader in seat 0 locks; the other seats follow.
    pub const SEAT_BYTES: u64 = 128;
}

/// Largest payload that a ring of this capacity takes: an eighth of it, at most [`MAX_PAYLOAD`], less a header.
///
/// An eighth, because the writer declares its intent in strides of an eighth: two strides and a frame must fit
/// between a reader that joins at the head and the writer.
pub const fn max_payload(capacity: u64) -> u64 {
    let eighth = capacity / 8;
    let most = if eighth < MAX_PAYLOAD { eighth } else { MAX_PAYLOAD };
    most - frame::HEADER_BYTES
}

/// How far ahead the writer declares what it is going to overwrite.
pub const fn stride(capacity: u64) -> u64 {
    capacity / 8
}

/// The greatest distance of the intent from the head: one batch that a dead writer committed but did not count, the
/// stride (or larger frame) that it declared behind it, and one line. A greater distance is damage.
pub const fn max_reach(capacity: u64) -> u64 {
    let step = if stride(capacity) > LINE_BYTES { stride(capacity) } else { LINE_BYTES };
    2 * step + LINE_BYTES
}

/// The greatest distance from the oldest byte that may still be read to the next mark: two strides and a batch.
pub const fn mark_reach(capacity: u64) -> u64 {
    2 * stride(capacity) + batch_bytes(capacity) + 2 * LINE_BYTES
}

/// Longest batch: within one stride, and short enough that [`line_mark`] distinguishes its ends.
pub const fn batch_bytes(capacity: u64) -> u64 {
    let step = if stride(capacity) > LINE_BYTES { stride(capacity) } else { LINE_BYTES };
    if step < 2 << 20 { step } else { 2 << 20 }
}

/// The word that holds the number of frames, see [`control::FRAMES`].
pub const fn frames_word(frames: u64, end: u64) -> u64 {
    frames << 16 | line_mark(end)
}

/// Number of frames in such a word.
pub const fn frames_of(word: u64) -> u64 {
    word >> 16
}

/// Low 16 bits of the number of the line at `position`: differs between any two positions of a recovery, since the
/// largest frame and the longest batch have fewer lines than that.
pub(crate) const fn line_mark(position: u64) -> u64 {
    (position / LINE_BYTES) & 0xffff
}

/// Bytes that a frame with this payload takes in the ring.
pub const fn frame_bytes(payload: u64) -> u64 {
    (frame::HEADER_BYTES + payload + (LINE_BYTES - 1)) & !(LINE_BYTES - 1)
}

/// True for a number of seats that a registry or journal can have: whole words of a row of seat bits. Rows have as many
/// words as that takes; the sets of readers have room for [`MAX_SEATS`].
pub(crate) const fn is_seat_count(seats: u32) -> bool {
    seats > 0 && seats <= MAX_SEATS && seats.is_multiple_of(64)
}

/// Words of a row of seat bits.
pub(crate) const fn seat_words(seats: u32) -> usize {
    (seats as usize).div_ceil(64)
}

/// Word at which the interest table starts.
pub const fn interest_start(seats: u32) -> usize {
    control::CURSORS + seats as usize * LINE_WORDS
}

/// Number of used words of a control file.
pub(crate) const fn control_words(seats: u32, topics: u32) -> usize {
    interest_start(seats) + seat_words(seats) * topics as usize
}

/// Bytes of a control file, whole 4 KiB pages.
pub const fn control_bytes(seats: u32, topics: u32) -> u64 {
    ((control_words(seats, topics) * WORD_BYTES) as u64).next_multiple_of(4096)
}

/// Bytes of a registry file.
pub const fn registry_bytes(seats: u32) -> u64 {
    (((registry::RECORDS + registry::RECORD_WORDS * seats as usize) * WORD_BYTES) as u64)
        .next_multiple_of(4096)
}

/// A number that differs between any two layouts: FNV-1a, by whole words, over every offset of this module in order.
pub const fn layout_hash() -> u64 {
    const OFFSETS: &[usize] = &[
        FORMAT_VERSION as usize,
        LINE_BYTES as usize,
        frame::COMMIT,
        frame::SHAPE,
        frame::TIME,
        frame::ORIGIN,
        frame::HEADER_WORDS,
        frame::VOID as usize,
        frame::APPENDED as usize,
        control::ID,
        control::CAPACITY,
        control::TABLES,
        control::CREATED,
        control::MAX_PAYLOAD,
        control::NAME,
        control::WRITER,
        control::WRITER_START,
        control::EPOCH,
        control::WRITER_STATE,
        control::HEAD,
        control::FRAMES,
        control::LAST_TIME,
        control::TALLY,
        control::CLASSES,
        control::INTENT,
        control::FULL,
        control::WAKES,
        control::GATED,
        control::LOOSE,
        control::FIRST,
        control::INCARNATION,
        control::IDENTITY,
        control::DURABLE,
        control::DURABLE_WAITERS,
        control::MARKS,
        control::MARK_COUNT,
        control::CURSORS,
        control::CURSOR_POSITION,
        control::CURSOR_LOST,
        control::CURSOR_GAPS,
        control::CURSOR_FRAMES,
        control::CURSOR_KEPT,
        // Without CURSOR_OWED: zero where nobody writes it, so files of before are of this format.
        registry::SEATS,
        registry::PHASE,
        registry::CLOCK_KIND,
        registry::CLOCK_BASE,
        registry::CLOCK_EPOCH,
        registry::CLOCK_SCALE,
        registry::RECORDS,
        registry::RECORD_WORDS,
        registry::WAIT,
        registry::PID,
        registry::START,
        registry::GENERATION,
        registry::STATE,
        registry::KIND,
        registry::EXIT,
        registry::ASKED,
        registry::HEARTBEAT,
        registry::CPU,
        registry::NAME,
        registry::COUNTERS,
        registry::COUNTER_COUNT,
        registry::MORE_COUNTERS,
        registry::BELL,
        registry::BELL_WORDS,
        registry::RELAY,
        registry::ANSWERS,
        registry::UNDELIVERED,
        registry::AT_RISK,
        registry::NOTIFY,
        registry::NOTIFY_BELL,
        registry::NOTIFY_RELAY,
        registry::NOTIFY_WORDS,
        registry::FENCES,
        registry::BELL_ALL,
        registry::CLOCK_OFFSET,
    ];
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut index = 0;
    while index < OFFSETS.len() {
        hash = (hash ^ OFFSETS[index] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        index += 1;
    }
    hash
}

// A small frame is one line: header and payload of 32 bytes each.
const _: () = assert!(frame_bytes(32) == LINE_BYTES && frame_bytes(33) == 2 * LINE_BYTES);
const _: () = assert!(frame::HEADER_WORDS * WORD_BYTES == frame::HEADER_BYTES as usize);
// Fields with different writers lie on different lines.
const _: () = assert!(control::HEAD / LINE_WORDS != control::INTENT / LINE_WORDS);
const _: () = assert!(control::WRITER / LINE_WORDS != control::HEAD / LINE_WORDS);
// Counting touches no line that the commit did not touch.
const _: () = assert!((control::TALLY + control::CLASSES - 1) / LINE_WORDS == control::HEAD / LINE_WORDS);
const _: () = assert!(control::FULL / LINE_WORDS != control::INTENT / LINE_WORDS);
const _: () =
    assert!(control::GATED.is_multiple_of(LINE_WORDS) && control::CURSORS.is_multiple_of(LINE_WORDS));
const _: () = assert!(
    control::LOOSE + MAX_SEATS as usize / 64 <= control::DURABLE
        && control::DURABLE + MAX_SEATS as usize / 64 <= control::DURABLE_WAITERS
        && control::DURABLE_WAITERS + MAX_SEATS as usize / 64 <= control::MARKS
        && control::MARKS.is_multiple_of(LINE_WORDS)
        && control::MARKS + control::MARK_COUNT <= control::CURSORS
);
// What never changes shares no line with what the writer stores.
const _: () =
    assert!(control::FIRST / LINE_WORDS != control::EPOCH / LINE_WORDS && control::IDENTITY < control::HEAD);
const _: () =
    assert!(lock::SEAT_BYTES > lock::WRITER_BYTE && lock::WRITER_BYTE >= (lock::WORDS * WORD_BYTES) as u64);
const _: () = assert!(registry::PID / LINE_WORDS != registry::WAIT / LINE_WORDS);
const _: () = assert!(registry::COUNTERS + registry::COUNTER_COUNT <= registry::BELL);
// Writers store to the bell, and to nothing else on its line.
const _: () = assert!(
    registry::BELL.is_multiple_of(LINE_WORDS)
        && registry::BELL_WORDS == LINE_WORDS
        && registry::BELL_ALL == registry::BELL + registry::BELL_WORDS - 1
        && registry::BELL + registry::BELL_WORDS <= registry::LATER_COUNTERS
        && registry::LATER_COUNTERS.is_multiple_of(LINE_WORDS)
        && registry::LATER_COUNTERS + registry::LATER_COUNTER_COUNT <= registry::RELAY
        && registry::RELAY.is_multiple_of(LINE_WORDS)
        && registry::MORE_COUNTERS.is_multiple_of(LINE_WORDS)
        && registry::MORE_COUNTERS < registry::RECORD_WORDS
);
// Answers to a seat are counted by another node than the seat's own.
const _: () = assert!(
    registry::ANSWERS.is_multiple_of(LINE_WORDS)
        && registry::ANSWERS > registry::RELAY
        && registry::ANSWERS + control::CLASSES <= registry::UNDELIVERED
        && registry::UNDELIVERED < registry::AT_RISK
        && registry::AT_RISK < registry::MORE_COUNTERS
);
// Fields that every commit reads lie on lines that are hardly ever written.
const _: () = assert!(
    registry::FENCES.is_multiple_of(LINE_WORDS)
        && registry::CLOCK_OFFSET < registry::FENCES
        && registry::NOTIFY / LINE_WORDS == registry::FENCES / LINE_WORDS
        && registry::NOTIFY > registry::FENCES
        && registry::NOTIFY + registry::NOTIFY_WORDS * MAX_SEATS as usize / 64 <= registry::RECORDS
);
const _: () = assert!(
    registry::RECORD_WORDS.is_multiple_of(LINE_WORDS) && registry::RECORDS.is_multiple_of(LINE_WORDS)
);
// The largest frame, its successor's commit line and two strides fit in the smallest ring.
const _: () = assert!(
    frame_bytes(max_payload(MIN_CAPACITY)) + LINE_BYTES + 2 * stride(MIN_CAPACITY) <= MIN_CAPACITY / 2
);
// The largest frame plus its successor's commit line fits in two strides of every ring.
const _: () = assert!(frame_bytes(max_payload(MIN_CAPACITY)) <= stride(MIN_CAPACITY));
// A lapped reader finds the head well ahead of it, so a gap is never empty.
const _: () = assert!(max_reach(MIN_CAPACITY) < MIN_CAPACITY / 2);
// Two ends of one recovery never share a mark.
const _: () = assert!(frame_bytes(MAX_PAYLOAD - frame::HEADER_BYTES) / LINE_BYTES < 0xffff);
const _: () = assert!(batch_bytes(MAX_CAPACITY) / LINE_BYTES < 0xffff);
// A batch holds at least one frame of any size.
const _: () = assert!(
    batch_bytes(MIN_CAPACITY) >= frame_bytes(max_payload(MIN_CAPACITY))
        && batch_bytes(MAX_CAPACITY) >= frame_bytes(max_payload(MAX_CAPACITY))
);
// No sum of a position and a capacity, or of a position and a frame, overflows.
const _: () = assert!(MAX_POSITION.checked_add(2 * MAX_CAPACITY).is_some());
