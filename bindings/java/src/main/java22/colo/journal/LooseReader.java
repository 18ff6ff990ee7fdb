package colo.journal;

import colo.journal.JournalException.Code;
import colo.layout.Journals;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** Never holds the writer up. Where it is overtaken, it says what it lost. */
public final class LooseReader implements Reader {
    private final Journal journal;
    private final MemorySegment ring;
    private final MemorySegment control;
    private final long mask;
    private final long capacity;
    private final byte[] copy;
    private final long cursor;
    private final long lostBefore;
    private final long gapsBefore;
    private int lease = -1;
    private long position;
    private long published;
    private long frames;
    private long lost;
    private long gaps;
    private long gapFrom;
    private long[] topics;
    private boolean durable;

    LooseReader(Journal journal, int seat, long position) {
        if (position % Journals.LINE_BYTES != 0 || position < journal.first() || position > journal.head()) {
            throw journal.refuse(Code.NO_SUCH_POSITION, position + " is not between " + journal.first() + " and " + journal.head());
        }
        this.journal = journal;
        this.ring = journal.ring;
        this.control = journal.control;
        this.mask = journal.mask;
        this.capacity = journal.capacity;
        this.copy = new byte[journal.maxPayload()];
        this.position = position;
        if (seat < 0) {
            cursor = 0;
            lostBefore = 0;
            gapsBefore = 0;
            return;
        }
        lease = journal.lease(Journals.LOCK_SEAT_BYTES + (long) seat, Code.SEAT_TAKEN);
        cursor = Header.cursor(seat);
        lostBefore = journal.word(cursor + Journals.CURSOR_LOST);
        gapsBefore = journal.word(cursor + Journals.CURSOR_GAPS);
        Words.setBit(control, Journals.CONTROL_LOOSE + seat / 64 * 8L, seat % 64);
        publish();
    }

    @Override
    public Read next(Frame frame) {
        while (true) {
            long at = position & mask;
            if (Words.acquire(ring, at) != position || durable) {
                Read nothing = nothing();
                if (nothing != Read.FRAME) {
                    return nothing;
                }
            }
            long shape = Words.opaque(ring, at + Journals.FRAME_LENGTH);
            long time = Words.opaque(ring, at + Journals.FRAME_TIME);
            long origin = Words.opaque(ring, at + Journals.FRAME_TOPIC);
            long length = shape & 0xffff_ffffL;
            if (length > copy.length) {
                return tooLong(length);
            }
            boolean wanted = (shape >>> 48 & Journals.FRAME_VOID) == 0 && (topics == null || Reader.has(topics, (int) origin));
            if (wanted) {
                MemorySegment.copy(ring, ValueLayout.JAVA_BYTE, at + Journals.FRAME_PAYLOAD, copy, 0, (int) length);
            }
            VarHandle.acquireFence();
            if (isLapped()) {
                return resume();
            }
            frame.position = position;
            position += Header.frameBytes(length);
            if (wanted) {
                frames++;
                frame.shape = shape;
                frame.time = time;
                frame.origin = origin;
                frame.payload = copy;
                return Read.FRAME;
            }
        }
    }

    private Read tooLong(long length) {
        VarHandle.acquireFence();
        if (isLapped()) {
            return resume();
        }
        throw journal.refuse(Code.DAMAGED, "the frame at " + position + " claims " + length + " bytes");
    }

    /** FRAME: there is one after all. */
    private Read nothing() {
        if (durable && position >= journal.durable()) {
            if (isLapped()) {
                return resume();
            }
            publish();
            return Read.NOTHING;
        }
        long commit = journal.commit(position);
        if (commit == position) {
            return Read.FRAME;
        }
        if (isLapped()) {
            return resume();
        }
        if (commit != 0) {
            throw journal.refuse(Code.DAMAGED, "the commit word at " + position + " is " + commit);
        }
        publish();
        return Read.NOTHING;
    }

    private boolean isLapped() {
        return Words.acquire(control, Journals.CONTROL_INTENT) - capacity > position;
    }

    private Read resume() {
        journal.check();
        long head = journal.head();
        if (head <= position) {
            throw journal.refuse(Code.DAMAGED, "its intent is ahead of " + position + ", its head " + head + " is not");
        }
        gapFrom = position;
        lost += head - position;
        gaps++;
        position = head;
        publish();
        return Read.GAP;
    }

    @Override
    public long peekTime() {
        while (true) {
            if (isLapped() || durable && position >= journal.durable() || journal.commit(position) != position) {
                return -1;
            }
            long at = position & mask;
            long shape = Words.opaque(ring, at + Journals.FRAME_LENGTH);
            long time = Words.opaque(ring, at + Journals.FRAME_TIME);
            int topic = (int) Words.opaque(ring, at + Journals.FRAME_TOPIC);
            VarHandle.acquireFence();
            if (isLapped() || (shape & 0xffff_ffffL) > copy.length) {
                return -1;
            }
            if ((shape >>> 48 & Journals.FRAME_VOID) == 0 && Reader.has(topics, topic)) {
                return time;
            }
            position += Header.frameBytes(shape & 0xffff_ffffL);
        }
    }

    @Override
    public boolean hasNews() {
        return isLapped() || (!durable || position < journal.durable()) && journal.commit(position) != 0;
    }

    @Override
    public long position() {
        return position;
    }

    @Override
    public long gapFrom() {
        return gapFrom;
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
        publish();
    }

    private void publish() {
        if (cursor == 0 || published == position) {
            return;
        }
        published = position;
        Words.setOpaque(control, cursor + Journals.CURSOR_POSITION, position);
        Words.setOpaque(control, cursor + Journals.CURSOR_LOST, lostBefore + lost);
        Words.setOpaque(control, cursor + Journals.CURSOR_GAPS, gapsBefore + gaps);
        Words.setOpaque(control, cursor + Journals.CURSOR_FRAMES, frames);
    }

    @Override
    public void close() {
        if (lease >= 0) {
            publish();
            Native.close(lease);
            lease = -1;
        }
    }
}
