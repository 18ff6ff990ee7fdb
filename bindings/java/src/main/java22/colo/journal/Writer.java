package colo.journal;

import colo.journal.JournalException.Code;
import colo.layout.Journals;
import colo.wire.Message;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.function.ToIntFunction;

/** The one that writes a journal. What it commits is whole or not there, even if the process is killed. */
public final class Writer implements AutoCloseable {
    /** What a predecessor's last time may be ahead of the clock and still be believed. */
    private static final long MOST_AHEAD = 1_000_000_000L;
    private static final int LINE = Journals.LINE_BYTES;

    private final Journal journal;
    private final MemorySegment ring;
    private final MemorySegment control;
    private final Clock clock;
    private final Registry registry;
    private final long mask;
    private final long capacity;
    private final long batchBytes;
    private final long epoch;
    private int lease;
    private long position;
    private long limit;
    private long intent;
    private long frames;
    private long lastTime;
    private long time;
    // The batch that is open: its end, its frames, and the seats that want one of its topics.
    private long batchEnd;
    private long batchFrames;
    private final long[] batchTopics = new long[Journals.MAX_TOPICS / 64];

    Writer(Journal journal, int seat, Clock clock, Registry registry) {
        this.journal = journal;
        this.ring = journal.ring;
        this.control = journal.control;
        this.clock = clock;
        this.registry = registry;
        this.mask = journal.mask;
        this.capacity = journal.capacity;
        this.batchBytes = Math.min(capacity / 8, Journals.MAX_BATCH);
        lease = journal.lease(Journals.LOCK_WRITER_BYTE, Code.WRITER_EXISTS);
        try {
            takeOver();
        } catch (RuntimeException error) {
            Native.close(lease);
            throw error;
        }
        long process = ProcessHandle.current().pid();
        Words.release(control, Journals.CONTROL_WRITER_START, Journal.startOf(process));
        Words.release(control, Journals.CONTROL_WRITER, process | (long) seat << 32);
        Words.release(control, Journals.CONTROL_WRITER_STATE, 1);
        epoch = journal.epoch() + 1;
        Words.release(control, Journals.CONTROL_EPOCH, epoch);
    }

    /** Finds the end of what a predecessor committed, and counts what it had no time to count. */
    private void takeOver() {
        journal.check();
        long head = journal.head();
        intent = journal.word(Journals.CONTROL_INTENT);
        if (intent < head) {
            throw journal.refuse(Code.DAMAGED, "its intent " + intent + " lies before its head " + head);
        }
        position = head;
        lastTime = journal.word(Journals.CONTROL_LAST_TIME);
        long counted = journal.word(Journals.CONTROL_FRAMES);
        long found = 0;
        while (journal.commit(position) == position) {
            long at = position & mask;
            long length = Words.opaque(ring, at + Journals.FRAME_LENGTH) & 0xffff_ffffL;
            if (length > journal.maxPayload()) {
                throw journal.refuse(Code.DAMAGED, "the frame at its end, position " + position + ", claims " + length + " bytes");
            }
            lastTime = Math.max(lastTime, Words.opaque(ring, at + Journals.FRAME_TIME));
            position += Header.frameBytes(length);
            found++;
            if (position > head + capacity) {
                throw journal.refuse(Code.DAMAGED, "its frames have no end");
            }
        }
        if (journal.commit(position) != 0) {
            throw journal.refuse(Code.DAMAGED, "the line behind its last frame, position " + position + ", is not clear");
        }
        frames = counted >>> 16;
        if (framesWord(frames, position) != counted) {
            frames += found;
        }
        Words.release(control, Journals.CONTROL_FRAMES, framesWord(frames, position));
        Words.release(control, Journals.CONTROL_LAST_TIME, lastTime);
        Words.release(control, Journals.CONTROL_HEAD, position);
        limit = position;
        intent = Math.max(intent, position);
        if (lastTime > clock.now() + MOST_AHEAD) {
            lastTime = 0;
        }
    }

    private static long framesWord(long frames, long end) {
        return frames << 16 | end / LINE & 0xffff;
    }

    /** Commits a message. False: the journal is full. */
    public boolean write(int topic, Message message) {
        return write(message.messageId(), topic, message.bytes(), message.offset(), message.size());
    }

    /** Commits one frame, and returns true; {@link #time} says its time. False: the journal is full. */
    public boolean write(int id, int topic, byte[] payload, int from, int length) {
        return write(id, 0, topic, payload, from, length);
    }

    private boolean write(int id, int flags, int topic, byte[] payload, int from, int length) {
        checkIdle();
        check(length, topic);
        long end = position + Header.frameBytes(length);
        if (end + LINE > limit && !extend(end + LINE)) {
            return false;
        }
        storePayload(position, payload, from, length);
        clear(end);
        time = stamp();
        storeHeader(position, id, flags, topic, length, time);
        commit(position, end, 1, time);
        notifyTopic(topic);
        return true;
    }

    /** Commits messages of one size, one behind the other, as one frame of records. False: the journal is full. */
    public boolean writeRecords(int id, int topic, int size, byte[] records, int length) {
        if (size < 1 || size > Journals.FRAME_RECORD || length == 0 || length % size != 0) {
            throw journal.refuse(Code.TOO_LARGE, "records of " + size + " bytes in " + length + " bytes");
        }
        if (length > journal.maxPayload()) {
            throw journal.refuse(Code.BATCH_FULL, length + " bytes of records, at most " + journal.maxPayload());
        }
        return write(id, size, topic, records, 0, length);
    }

    /** Refuses what would overwrite the frames of a batch that is not committed. */
    private void checkIdle() {
        if (batchFrames > 0) {
            throw journal.refuse(Code.ORDER_OF_CALLS, "a batch of " + batchFrames + " frames");
        }
    }

    private void check(long length, int topic) {
        if (length > journal.maxPayload()) {
            throw journal.refuse(Code.TOO_LARGE, length + " bytes, at most " + journal.maxPayload());
        }
        if (topic < 0 || topic >= journal.topics()) {
            throw journal.refuse(Code.NO_SUCH_TOPIC, "topic " + topic + " of " + journal.topics());
        }
    }

    /** Looks at the gate, declares what is going to be overwritten, and leaves a mark. False: full. */
    private boolean extend(long needed) {
        long gate = gate();
        if (needed > gate) {
            return full(needed);
        }
        long step = Math.max(capacity / Journals.CONTROL_MARK_COUNT, LINE);
        long slot = Journals.CONTROL_MARKS + position / step % Journals.CONTROL_MARK_COUNT * 8;
        long mark = journal.word(slot);
        if (mark == 0 || mark / step != position / step) {
            Words.release(control, slot, position);
        }
        long wanted = Math.min(Math.max(position + capacity / 8, needed), gate);
        intent = Math.max(intent, wanted);
        Words.release(control, Journals.CONTROL_INTENT, intent);
        // Before the first byte that it covers, and before the second look at the gate.
        VarHandle.fullFence();
        gate = gate();
        limit = Math.min(wanted, gate);
        return needed <= limit || full(needed);
    }

    private long gate() {
        long least = position;
        for (int word = 0; word < journal.header.seats() / 64; word++) {
            for (long seats = journal.word(Journals.CONTROL_GATED + word * 8L); seats != 0; seats &= seats - 1) {
                least = Math.min(least, neededBy(word * 64 + Long.numberOfTrailingZeros(seats)));
            }
        }
        // No position is 2^63 or more.
        return least > Long.MAX_VALUE - capacity ? Long.MAX_VALUE : least + capacity;
    }

    private long neededBy(int seat) {
        long cursor = Header.cursor(seat);
        long at = journal.word(cursor + Journals.CURSOR_POSITION);
        long kept = journal.word(cursor + Journals.CURSOR_KEPT);
        return kept != 0 ? Math.min(kept, at) : at;
    }

    private boolean full(long needed) {
        if (registry != null) {
            for (int word = 0; word < journal.header.seats() / 64; word++) {
                for (long seats = journal.word(Journals.CONTROL_GATED + word * 8L); seats != 0; seats &= seats - 1) {
                    int seat = word * 64 + Long.numberOfTrailingZeros(seats);
                    if (neededBy(seat) + capacity < needed && registry.wake(seat)) {
                        countWakes(1);
                    }
                }
            }
        }
        Words.release(control, Journals.CONTROL_FULL, journal.word(Journals.CONTROL_FULL) + 1);
        return false;
    }

    private void clear(long at) {
        Words.setOpaque(ring, at & mask, 0);
    }

    /** The payload, and zeros up to a multiple of 16. */
    private void storePayload(long position, byte[] payload, int from, int length) {
        long at = (position & mask) + Journals.FRAME_PAYLOAD;
        if (length % 16 != 0) {
            long tail = at + (length & -16);
            ring.set(ValueLayout.JAVA_LONG, tail, 0);
            ring.set(ValueLayout.JAVA_LONG, tail + 8, 0);
        }
        MemorySegment.copy(payload, from, ring, ValueLayout.JAVA_BYTE, at, length);
    }

    private void storeHeader(long position, int id, int flags, int topic, long length, long time) {
        long at = position & mask;
        Words.setOpaque(ring, at + Journals.FRAME_LENGTH, length | (long) id << 32 | (long) flags << 48);
        Words.setOpaque(ring, at + Journals.FRAME_TIME, time);
        Words.setOpaque(ring, at + Journals.FRAME_TOPIC, topic | epoch << 32);
    }

    private long stamp() {
        return Math.max(clock.now(), lastTime);
    }

    /** Makes frames visible, and counts them. */
    private void commit(long start, long end, long count, long time) {
        Words.release(ring, start & mask, start);
        position = end;
        frames += count;
        lastTime = Math.max(lastTime, time);
        Words.setOpaque(control, Journals.CONTROL_FRAMES, framesWord(frames, end));
        Words.setOpaque(control, Journals.CONTROL_LAST_TIME, lastTime);
        Words.release(control, Journals.CONTROL_HEAD, end);
    }

    private void notifyTopic(int topic) {
        if (registry == null) {
            return;
        }
        // Always: so no announcement has to reach this process.
        VarHandle.fullFence();
        long row = journal.header.interest(topic);
        for (int word = 0; word < journal.header.seats() / 64; word++) {
            long wanted = journal.word(row + word * 8L);
            if (wanted != 0) {
                countWakes(registry.notify(word * 64, wanted, journal.id()));
            }
        }
    }

    /** Of the topics in the set; null: all. */
    private void notifyTopics(long[] topics) {
        if (registry == null) {
            return;
        }
        VarHandle.fullFence();
        for (int word = 0; word < journal.header.seats() / 64; word++) {
            long wanted = 0;
            for (int topic = 0; topic < journal.topics(); topic++) {
                if (topics == null || (topics[topic / 64] >>> topic % 64 & 1) == 1) {
                    wanted |= journal.word(journal.header.interest(topic) + word * 8L);
                }
            }
            if (wanted != 0) {
                countWakes(registry.notify(word * 64, wanted, journal.id()));
            }
        }
    }

    private void countWakes(int woken) {
        if (woken > 0) {
            Words.setOpaque(control, Journals.CONTROL_WAKES, journal.word(Journals.CONTROL_WAKES) + woken);
        }
    }

    /**
     * Begins a batch: frames that become visible at once. What an earlier one has not committed is dropped. Once a frame was pushed, the
     * writer takes nothing else before the batch is committed or abandoned.
     */
    public void beginBatch() {
        batchEnd = position;
        batchFrames = 0;
        java.util.Arrays.fill(batchTopics, 0);
    }

    /** Adds a frame to the batch, and returns its position; 0: the journal is full. */
    public long push(int id, int topic, byte[] payload, int from, int length) {
        check(length, topic);
        if (batchFrames == 0) {
            batchEnd = position;
        }
        long start = batchEnd;
        long end = start + Header.frameBytes(length);
        if (end - position > batchBytes) {
            throw journal.refuse(Code.BATCH_FULL, batchBytes + " bytes at most");
        }
        if (end + LINE > limit && !extend(end + LINE)) {
            return 0;
        }
        storePayload(start, payload, from, length);
        storeHeader(start, id, 0, topic, length, 0);
        if (batchFrames > 0) {
            Words.setOpaque(ring, start & mask, start);
        }
        batchTopics[topic / 64] |= 1L << topic % 64;
        batchEnd = end;
        batchFrames++;
        return start;
    }

    /** Makes the batch visible: all of it, or nothing. */
    public void commitBatch() {
        if (batchFrames == 0) {
            return;
        }
        long start = stageBatch();
        commit(start, batchEnd, batchFrames, time);
        batchFrames = 0;
        notifyTopics(batchTopics);
    }

    /** Drops the frames of the batch: no reader ever saw them. The writer takes other frames again. */
    public void abandonBatch() {
        batchFrames = 0;
    }

    /** Everything but the store that makes it visible: what a writer leaves that is killed there. For tests. */
    public long stageBatch() {
        time = stamp();
        for (long at = position; at < batchEnd;) {
            Words.setOpaque(ring, (at & mask) + Journals.FRAME_TIME, time);
            at += Header.frameBytes(Words.opaque(ring, (at & mask) + Journals.FRAME_LENGTH) & 0xffff_ffffL);
        }
        clear(batchEnd);
        return position;
    }

    /** Makes a position that of the next frame: void frames fill the space before it. False: full. */
    public boolean skipTo(long to) {
        checkIdle();
        if (to % LINE != 0 || to < position || to - position > 1L << 40) {
            throw journal.refuse(Code.NO_SUCH_POSITION, to + " does not follow " + position);
        }
        while (position < to) {
            long bytes = Math.min(to - position, Header.frameBytes(journal.maxPayload()));
            long length = Math.min(bytes - Journals.FRAME_PAYLOAD, journal.maxPayload());
            long end = position + Header.frameBytes(length);
            if (end + LINE > limit && !extend(end + LINE)) {
                return false;
            }
            clear(end);
            long last = journal.word(Journals.CONTROL_LAST_TIME);
            storeHeader(position, 0, Journals.FRAME_VOID, 0, length, last);
            commit(position, end, 1, last);
        }
        notifyTopics(null);
        return true;
    }

    /** Counts a frame in a class of the tally, right behind its commit. */
    public void count(int of) {
        long at = Journals.CONTROL_TALLY + of * 8L;
        Words.release(control, at, journal.word(at) + 1);
    }

    /** How many frames of a class there ever were. */
    public long tally(int of) {
        return journal.word(Journals.CONTROL_TALLY + of * 8L);
    }

    /** Brings the tally up to date: a predecessor that was killed may have left its last frames uncounted. */
    public void countMissed(ToIntFunction<Frame> classOf) {
        long counted = 0;
        for (int of = 0; of < Journals.CONTROL_CLASSES; of++) {
            counted += tally(of);
        }
        if (counted >= frames) {
            return;
        }
        java.util.ArrayList<Integer> last = new java.util.ArrayList<>();
        Frame frame = new Frame();
        try (LooseReader reader = journal.loose(journal.oldest())) {
            while (reader.next(frame) == Read.FRAME) {
                last.add(classOf.applyAsInt(frame));
            }
        }
        int missing = (int) Math.min(frames - counted, last.size());
        last.subList(last.size() - missing, last.size()).forEach(this::count);
    }

    /** Time of what was written last. */
    public long time() {
        return time;
    }

    /** Position of the next frame. */
    public long position() {
        return position;
    }

    public long epoch() {
        return epoch;
    }

    public int journalId() {
        return journal.id();
    }

    /** Leaves in good order, and wakes the readers. */
    @Override
    public void close() {
        if (lease < 0) {
            return;
        }
        Words.release(control, Journals.CONTROL_WRITER_STATE, 2);
        notifyTopics(null);
        Native.close(lease);
        lease = -1;
    }
}
