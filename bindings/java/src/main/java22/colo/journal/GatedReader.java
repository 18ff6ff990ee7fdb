package colo.journal;

import colo.journal.JournalException.Code;
import colo.layout.Journals;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The writer waits for it: it loses nothing. */
public final class GatedReader implements Reader {
    /** How far the cursor may lag behind, as a part of the ring. */
    private static final int PUBLISH_PART = 64;

    private final Journal journal;
    private final MemorySegment ring;
    private final MemorySegment control;
    private final long mask;
    private final long lag;
    private final byte[] copy;
    private final long cursor;
    private int lease;
    private long position;
    private long passed;
    private long published;
    private long frames;
    private long kept;
    private long[] topics;
    private boolean durable;

    GatedReader(Journal journal, int seat) {
        this.journal = journal;
        this.ring = journal.ring;
        this.control = journal.control;
        this.mask = journal.mask;
        this.lag = journal.capacity / PUBLISH_PART;
        this.copy = new byte[journal.maxPayload()];
        this.cursor = Header.cursor(seat);
        lease = journal.lease(Journals.LOCK_SEAT_BYTES + (long) seat, Code.SEAT_TAKEN);
        long row = Journals.CONTROL_GATED + seat / 64 * 8L;
        long at = journal.word(cursor + Journals.CURSOR_POSITION);
        if ((journal.word(row) >>> seat % 64 & 1) == 1 && journal.word(Journals.CONTROL_INTENT) - journal.capacity <= at) {
            if (at % Journals.LINE_BYTES != 0 || at < journal.first()) {
                Native.close(lease);
                throw journal.refuse(Code.DAMAGED, "the cursor of seat " + seat + " is " + at);
            }
            frames = journal.word(cursor + Journals.CURSOR_FRAMES);
            kept = journal.word(cursor + Journals.CURSOR_KEPT);
        } else {
            do {
                at = journal.head();
                Words.release(control, cursor + Journals.CURSOR_POSITION, at);
                Words.release(control, cursor + Journals.CURSOR_FRAMES, 0);
                Words.release(control, cursor + Journals.CURSOR_KEPT, 0);
                Words.setBit(control, row, seat % 64);
            } while (journal.word(Journals.CONTROL_INTENT) - journal.capacity > at);
        }
        position = at;
        passed = at;
        published = at;
    }

    @Override
    public Read next(Frame frame) {
        passed = position;
        while (true) {
            long at = position & mask;
            long commit = Words.acquire(ring, at);
            if (commit != position || durable) {
                if (commit != 0 && commit != position) {
                    throw journal.refuse(Code.DAMAGED, "the commit word at " + position + " is " + commit);
                }
                if (commit == 0 || isBehindDisk()) {
                    publish();
                    return Read.NOTHING;
                }
            }
            long shape = Words.opaque(ring, at + Journals.FRAME_LENGTH);
            long origin = Words.opaque(ring, at + Journals.FRAME_TOPIC);
            long length = shape & 0xffff_ffffL;
            if (length > copy.length) {
                throw journal.refuse(Code.DAMAGED, "the frame at " + position + " claims " + length + " bytes");
            }
            frame.position = position;
            position += Header.frameBytes(length);
            if (passed - published >= lag) {
                publish();
            }
            if ((shape >>> 48 & Journals.FRAME_VOID) == 0 && (topics == null || Reader.has(topics, (int) origin))) {
                MemorySegment.copy(ring, ValueLayout.JAVA_BYTE, at + Journals.FRAME_PAYLOAD, copy, 0, (int) length);
                frames++;
                frame.shape = shape;
                frame.time = Words.opaque(ring, at + Journals.FRAME_TIME);
                frame.origin = origin;
                frame.payload = copy;
                return Read.FRAME;
            }
            passed = position;
        }
    }

    private boolean isBehindDisk() {
        return durable && position >= journal.durable();
    }

    @Override
    public long peekTime() {
        while (true) {
            long at = position & mask;
            if (Words.acquire(ring, at) != position || isBehindDisk()) {
                release();
                return -1;
            }
            long shape = Words.opaque(ring, at + Journals.FRAME_LENGTH);
            if ((shape & 0xffff_ffffL) > copy.length) {
                return -1;
            }
            if ((shape >>> 48 & Journals.FRAME_VOID) == 0 && Reader.has(topics, (int) Words.opaque(ring, at + Journals.FRAME_TOPIC))) {
                return Words.opaque(ring, at + Journals.FRAME_TIME);
            }
            position += Header.frameBytes(shape & 0xffff_ffffL);
        }
    }

    @Override
    public boolean hasNews() {
        return journal.commit(position) != 0 && !isBehindDisk();
    }

    @Override
    public long position() {
        return position;
    }

    @Override
    public void setTopics(int[] topics) {
        this.topics = Reader.set(topics);
    }

    @Override
    public void setDurable(boolean durable) {
        this.durable = durable;
    }

    @Override
    public void release() {
        passed = position;
        publish();
    }

    private void publish() {
        if (published != passed) {
            published = passed;
            Words.setOpaque(control, cursor + Journals.CURSOR_FRAMES, frames);
            Words.release(control, cursor + Journals.CURSOR_POSITION, passed);
        }
    }

    /** Has the writer leave everything from this position on, although it was read; never less than before. */
    public void keep(long from) {
        if (from > kept) {
            kept = from;
            Words.release(control, cursor + Journals.CURSOR_KEPT, from);
        }
    }

    /** Leaves the cursor where it is, for a successor. */
    @Override
    public void close() {
        if (lease >= 0) {
            release();
            Native.close(lease);
            lease = -1;
        }
    }
}
