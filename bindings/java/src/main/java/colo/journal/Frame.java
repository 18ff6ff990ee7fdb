package colo.journal;

import colo.layout.Journals;

/** A frame, filled by a reader: it holds until the reader's next call. */
public final class Frame {
    long position;
    long time;
    long shape;
    long origin;
    byte[] payload;

    /** Where it starts in the stream, which identifies it. */
    public long position() {
        return position;
    }

    /** When it was committed, in ns on the platform's clock. */
    public long time() {
        return time;
    }

    public int id() {
        return (int) (shape >>> 32) & 0xffff;
    }

    public int flags() {
        return (int) (shape >>> 48);
    }

    public int topic() {
        return (int) origin;
    }

    /** Low half of its writer's epoch. */
    public int epoch() {
        return (int) (origin >>> 32);
    }

    /** Bytes of its payload. */
    public int length() {
        return (int) shape;
    }

    /** The payload: its first {@link #length} bytes. The array is the reader's own, and is used again. */
    public byte[] payload() {
        return payload;
    }

    /** Bytes of each record; 0 if the payload is one message. */
    public int recordSize() {
        return flags() & Journals.FRAME_RECORD;
    }

    /** How many records there are. */
    public int records() {
        return recordSize() == 0 ? 1 : length() / recordSize();
    }

    /** Position of a record. */
    public long recordPosition(int record) {
        return recordSize() == 0 ? position : position + Journals.FRAME_PAYLOAD + (long) record * recordSize();
    }
}
