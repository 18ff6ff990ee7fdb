package colo.journal;

import colo.journal.JournalException.Code;
import colo.layout.Journals;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;

/** Values that a process keeps for all others: docs/journal-format.md, <i>The latest values</i>. */
public final class Latest implements AutoCloseable {
    private static final long MAGIC = 0x5453414c4f4c4f43L; // COLOLAST
    private static final int ATTEMPTS = 1000;

    private final MemorySegment words;
    private final long slots;
    private final long half;
    private final Arena arena;

    private Latest(MemorySegment words, long slots, long size, Arena arena) {
        this.words = words;
        this.slots = slots;
        this.half = (size + 63) / 64 * 64;
        this.arena = arena;
    }

    /** Maps them; null if the instance keeps none. */
    public static Latest open(Path path) {
        if (!Files.exists(path)) {
            return null;
        }
        Arena arena = Arena.ofShared();
        try {
            long bytes = Journal.size(path);
            MemorySegment words = Journal.map(path, bytes, 4096, 1, false, arena);
            if (bytes < 64 || Words.acquire(words, 0) != MAGIC) {
                throw new JournalException(Code.FOREIGN, path.toString(), "it holds no latest values");
            }
            if ((int) Words.acquire(words, 8) != Journals.FORMAT_VERSION || Words.acquire(words, 16) != Journals.LAYOUT_HASH) {
                throw new JournalException(Code.VERSION, path.toString(), "format " + Words.acquire(words, 8));
            }
            Latest latest = new Latest(words, Words.acquire(words, 24), Words.acquire(words, 32), arena);
            if (latest.slots < 0 || latest.slots > 1 << 20 || latest.half > 1 << 20 || bytes < 64 + latest.slots * latest.stride()) {
                throw new JournalException(Code.DAMAGED, path.toString(), latest.slots + " values");
            }
            return latest;
        } catch (RuntimeException error) {
            arena.close();
            throw error;
        }
    }

    private long stride() {
        return 64 + 2 * half;
    }

    /** Copies the value of a slot. False: it was never set, there is no such slot, or it changed during every attempt. */
    public boolean get(long slot, byte[] to, int length) {
        if (slot < 0 || slot >= slots || length > half) {
            return false;
        }
        long base = 64 + slot * stride();
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            long number = Words.acquire(words, base);
            if (number == 0) {
                return false;
            }
            MemorySegment.copy(words, ValueLayout.JAVA_BYTE, base + 64 + (number & 1) * half, to, 0, length);
            VarHandle.acquireFence();
            if (Words.acquire(words, base) == number) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {
        arena.close();
    }
}
