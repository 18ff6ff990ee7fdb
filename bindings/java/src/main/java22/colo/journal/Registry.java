package colo.journal;

import colo.journal.JournalException.Code;
import colo.layout.Journals;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/** Seats of an instance, its clock, and the words that sleepers sleep on. */
public final class Registry implements AutoCloseable {
    /** How a sleep ended. */
    public enum Sleep {
        /** There was news. */
        NOT_ASLEEP,
        WOKEN,
        TIMED_OUT
    }

    private static final long RECORD = Journals.REGISTRY_RECORD_WORDS * 8L;
    private static final int AWAKE = 0;
    private static final int PARKED = 1;

    private final MemorySegment words;
    private final int seats;
    private final Arena arena;
    private final MemorySegment time;

    private Registry(MemorySegment words, int seats, Arena arena) {
        this.words = words;
        this.seats = seats;
        this.arena = arena;
        this.time = arena.allocate(16, 8);
    }

    /** Maps one, after it has checked it. */
    public static Registry open(Path path) {
        Arena arena = Arena.ofShared();
        try {
            long size = Journal.size(path);
            if (size < Journals.REGISTRY_RECORDS) {
                throw new JournalException(Code.FOREIGN, path.toString(), "it has " + size + " bytes");
            }
            MemorySegment words = Journal.map(path, size, 4096, 1, true, arena);
            if (Words.acquire(words, Journals.REGISTRY_MAGIC) != Journals.REGISTRY_MAGIC_WORD) {
                throw new JournalException(Code.FOREIGN, path.toString(), "it is no registry");
            }
            if ((int) Words.acquire(words, Journals.REGISTRY_VERSION) != Journals.FORMAT_VERSION
                || Words.acquire(words, Journals.REGISTRY_LAYOUT_HASH) != Journals.LAYOUT_HASH) {
                throw new JournalException(Code.VERSION, path.toString(), "format " + Words.acquire(words, Journals.REGISTRY_VERSION));
            }
            long seats = Words.acquire(words, Journals.REGISTRY_SEATS);
            if (seats <= 0 || seats % 64 != 0 || seats > Journals.MAX_SEATS || size < Journals.REGISTRY_RECORDS + seats * RECORD) {
                throw new JournalException(Code.DAMAGED, path.toString(), seats + " seats in " + size + " bytes");
            }
            return new Registry(words, (int) seats, arena);
        } catch (RuntimeException error) {
            arena.close();
            throw error;
        }
    }

    @Override
    public void close() {
        arena.close();
    }

    public int seats() {
        return seats;
    }

    public Clock clock() {
        return Clock.of(words);
    }

    private static long record(int seat) {
        return Journals.REGISTRY_RECORDS + seat * RECORD;
    }

    /** A word of a seat's record. */
    public long word(int seat, long at) {
        return Words.acquire(words, record(seat) + at);
    }

    /** Of the program's own seat. */
    public void setWord(int seat, long at, long value) {
        Words.release(words, record(seat) + at, value);
    }

    /** Behind a commit and a full fence: notifies the seats of one word of a row. Returns how many were woken. */
    int notify(int first, long wanted, int journal) {
        if (first >= seats) {
            return 0;
        }
        long pair = Journals.REGISTRY_NOTIFY + first / 64 * Journals.REGISTRY_NOTIFY_WORDS * 8L;
        long bells = wanted & Words.acquire(words, pair + Journals.REGISTRY_NOTIFY_BELL);
        for (; bells != 0; bells &= bells - 1) {
            int seat = first + Long.numberOfTrailingZeros(bells);
            int bit = Integer.remainderUnsigned(journal, (Journals.REGISTRY_BELL_WORDS - 1) * 64);
            Words.setBit(words, record(seat) + Journals.REGISTRY_BELL + bit / 64 * 8L, bit % 64);
        }
        int woken = 0;
        long sleepers = wanted & ~Words.acquire(words, pair + Journals.REGISTRY_NOTIFY_RELAY);
        for (; sleepers != 0; sleepers &= sleepers - 1) {
            long at = record(first + Long.numberOfTrailingZeros(sleepers)) + Journals.REGISTRY_WAIT;
            long word = Words.acquire(words, at);
            if ((int) word == PARKED && word >>> 32 != (journal & 0xffff_ffffL) + 1 && Words.exchange(words, at, word, AWAKE)) {
                Native.futexWake(words.address() + at);
                woken++;
            }
        }
        return woken;
    }

    /** Wakes a seat if it sleeps, whatever it waits for. */
    public boolean wake(int seat) {
        long at = record(seat) + Journals.REGISTRY_WAIT;
        java.lang.invoke.VarHandle.fullFence();
        long word = Words.acquire(words, at);
        if ((int) word != PARKED || !Words.exchange(words, at, word, AWAKE)) {
            return false;
        }
        Native.futexWake(words.address() + at);
        return true;
    }

    /** Sleeps in a seat until a writer wakes it, unless there is news. The collector does not wait for who sleeps here. */
    public Sleep park(int seat, long longestNanos, BooleanSupplier hasNews) {
        long at = record(seat) + Journals.REGISTRY_WAIT;
        Words.full(words, at, PARKED);
        java.lang.invoke.VarHandle.fullFence();
        if (hasNews.getAsBoolean()) {
            Words.release(words, at, AWAKE);
            return Sleep.NOT_ASLEEP;
        }
        long until = System.nanoTime() + longestNanos;
        int ended;
        do {
            long left = Math.max(1, until - System.nanoTime());
            time.set(ValueLayout.JAVA_LONG, 0, left / 1_000_000_000);
            time.set(ValueLayout.JAVA_LONG, 8, left % 1_000_000_000);
            ended = Native.futexWait(words.address() + at, PARKED, time);
        } while (ended == Native.EINTR && (int) Words.acquire(words, at) == PARKED && System.nanoTime() < until);
        return (int) Words.swap(words, at, AWAKE) == AWAKE ? Sleep.WOKEN : Sleep.TIMED_OUT;
    }

    /** Has every writer see the interest that was set before: ahead of the first sleep, and after every addition. */
    public void announce() {
        final int global = 1;
        final int globalExpedited = 2;
        // The expedited one is first: the other waits for a grace period of the kernel.
        if (Native.membarrier(globalExpedited) || Native.membarrier(global)) {
            return;
        }
        Words.full(words, Journals.REGISTRY_FENCES, 1);
        try {
            Thread.sleep(2);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }

    /** Clears what a predecessor with a doorbell left: this program looks at all of its journals. */
    public void leaveBell(int seat) {
        long pair = Journals.REGISTRY_NOTIFY + seat / 64 * Journals.REGISTRY_NOTIFY_WORDS * 8L;
        Words.clearBit(words, pair + Journals.REGISTRY_NOTIFY_BELL, seat % 64);
        setWord(seat, Journals.REGISTRY_WAIT, AWAKE);
    }
}
