// Made by `cargo xtask gen` from the constants of colo; do not edit.
package colo.layout;

/** Offsets of journals and the registry in bytes, and their constants: docs/journal-format.md. */
public final class Journals {
    private Journals() {}

    // What every file begins with, and what nothing exceeds.
    public static final long LAYOUT_HASH = 0xd45ada3bf1e1cc83L;
    public static final int FORMAT_VERSION = 4;
    public static final long CONTROL_MAGIC_WORD = 0x4c4e524a4f4c4f43L;
    public static final long LOCK_MAGIC_WORD = 0x4b434f4c4f4c4f43L;
    public static final long REGISTRY_MAGIC_WORD = 0x544145534f4c4f43L;
    public static final int LINE_BYTES = 64;
    public static final int WORD_BYTES = 8;
    public static final int MIN_CAPACITY = 65536;
    public static final long MAX_CAPACITY = 0x1000000000L;
    public static final int MAX_PAYLOAD = 1048576;
    public static final int MAX_SEATS = 1024;
    public static final int MAX_TOPICS = 4096;
    public static final long MAX_POSITION = 0x8000000000000000L;
    public static final int MAX_NAME = 63;
    public static final int MAX_BATCH = 2097152;

    // A frame's header: bytes from the frame's start.
    public static final int FRAME_COMMIT = 0;
    public static final int FRAME_LENGTH = 8;
    public static final int FRAME_ID = 12;
    public static final int FRAME_FLAGS = 14;
    public static final int FRAME_TIME = 16;
    public static final int FRAME_TOPIC = 24;
    public static final int FRAME_EPOCH = 28;
    public static final int FRAME_PAYLOAD = 32;
    public static final int FRAME_VOID = 32768;
    public static final int FRAME_APPENDED = 16384;
    public static final int FRAME_RECORD = 16383;

    // The control file: bytes from its start; cursors: from their line's.
    public static final int CONTROL_MAGIC = 0;
    public static final int CONTROL_VERSION = 8;
    public static final int CONTROL_LAYOUT_HASH = 16;
    public static final int CONTROL_ID = 24;
    public static final int CONTROL_CAPACITY = 32;
    public static final int CONTROL_TABLES = 40;
    public static final int CONTROL_CREATED = 48;
    public static final int CONTROL_MAX_PAYLOAD = 56;
    public static final int CONTROL_NAME = 64;
    public static final int CONTROL_WRITER = 128;
    public static final int CONTROL_WRITER_START = 136;
    public static final int CONTROL_EPOCH = 144;
    public static final int CONTROL_WRITER_STATE = 152;
    public static final int CONTROL_FIRST = 192;
    public static final int CONTROL_INCARNATION = 200;
    public static final int CONTROL_IDENTITY = 208;
    public static final int CONTROL_HEAD = 256;
    public static final int CONTROL_FRAMES = 264;
    public static final int CONTROL_LAST_TIME = 272;
    public static final int CONTROL_TALLY = 280;
    public static final int CONTROL_INTENT = 320;
    public static final int CONTROL_FULL = 384;
    public static final int CONTROL_WAKES = 392;
    public static final int CONTROL_GATED = 512;
    public static final int CONTROL_LOOSE = 640;
    public static final int CONTROL_DURABLE = 768;
    public static final int CONTROL_DURABLE_WAITERS = 896;
    public static final int CONTROL_MARKS = 1024;
    public static final int CONTROL_CURSORS = 1536;
    public static final int CURSOR_POSITION = 0;
    public static final int CURSOR_LOST = 8;
    public static final int CURSOR_GAPS = 16;
    public static final int CURSOR_FRAMES = 24;
    public static final int CURSOR_KEPT = 32;
    public static final int CURSOR_OWED = 40;
    public static final int CONTROL_CLASSES = 5;
    public static final int CONTROL_MARK_COUNT = 64;

    // The registry: bytes from its start; from WAIT on: from the start of a seat's record.
    public static final int REGISTRY_MAGIC = 0;
    public static final int REGISTRY_VERSION = 8;
    public static final int REGISTRY_LAYOUT_HASH = 16;
    public static final int REGISTRY_SEATS = 24;
    public static final int REGISTRY_NAMESPACE = 32;
    public static final int REGISTRY_PHASE = 64;
    public static final int REGISTRY_CLOCK_KIND = 128;
    public static final int REGISTRY_CLOCK_BASE = 136;
    public static final int REGISTRY_CLOCK_EPOCH = 144;
    public static final int REGISTRY_CLOCK_SCALE = 152;
    public static final int REGISTRY_CLOCK_OFFSET = 160;
    public static final int REGISTRY_FENCES = 512;
    public static final int REGISTRY_NOTIFY = 528;
    public static final int REGISTRY_NOTIFY_BELL = 0;
    public static final int REGISTRY_NOTIFY_RELAY = 8;
    public static final int REGISTRY_RECORDS = 4096;
    public static final int REGISTRY_WAIT = 0;
    public static final int REGISTRY_PID = 64;
    public static final int REGISTRY_START = 72;
    public static final int REGISTRY_GENERATION = 80;
    public static final int REGISTRY_STATE = 88;
    public static final int REGISTRY_KIND = 96;
    public static final int REGISTRY_EXIT = 104;
    public static final int REGISTRY_ASKED = 112;
    public static final int REGISTRY_HEARTBEAT = 128;
    public static final int REGISTRY_CPU = 136;
    public static final int REGISTRY_NAME = 192;
    public static final int REGISTRY_COUNTERS = 256;
    public static final int REGISTRY_BELL = 512;
    public static final int REGISTRY_BELL_ALL = 568;
    public static final int REGISTRY_RELAY = 640;
    public static final int REGISTRY_ANSWERS = 704;
    public static final int REGISTRY_UNDELIVERED = 744;
    public static final int REGISTRY_AT_RISK = 752;
    public static final int REGISTRY_MORE_COUNTERS = 768;
    public static final int REGISTRY_LATER_COUNTERS = 576;
    public static final int REGISTRY_NOTIFY_WORDS = 2;
    public static final int REGISTRY_RECORD_WORDS = 128;
    public static final int REGISTRY_COUNTER_COUNT = 32;
    public static final int REGISTRY_BELL_WORDS = 8;
    public static final int REGISTRY_ALL_COUNTER_COUNT = 64;
    public static final int REGISTRY_LATER_COUNTER_COUNT = 8;

    // The lock file.
    public static final int LOCK_MAGIC = 0;
    public static final int LOCK_IDENTITY = 8;
    public static final int LOCK_WORDS = 2;
    public static final int LOCK_WRITER_BYTE = 64;
    public static final int LOCK_SEAT_BYTES = 128;
}
