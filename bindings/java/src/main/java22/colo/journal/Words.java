package colo.journal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** Words of shared memory, by their offset in bytes. */
final class Words {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private Words() {}

    static long acquire(MemorySegment memory, long at) {
        return (long) LONG.getAcquire(memory, at);
    }

    static void release(MemorySegment memory, long at, long value) {
        LONG.setRelease(memory, at, value);
    }

    static long opaque(MemorySegment memory, long at) {
        return (long) LONG.getOpaque(memory, at);
    }

    static void setOpaque(MemorySegment memory, long at, long value) {
        LONG.setOpaque(memory, at, value);
    }

    /** Sequentially consistent, as all that follow. */
    static void full(MemorySegment memory, long at, long value) {
        LONG.setVolatile(memory, at, value);
    }

    static long swap(MemorySegment memory, long at, long value) {
        return (long) LONG.getAndSet(memory, at, value);
    }

    static boolean exchange(MemorySegment memory, long at, long from, long to) {
        return LONG.compareAndSet(memory, at, from, to);
    }

    static void setBit(MemorySegment memory, long at, int bit) {
        long ignored = (long) LONG.getAndBitwiseOr(memory, at, 1L << bit);
    }

    static void clearBit(MemorySegment memory, long at, int bit) {
        long ignored = (long) LONG.getAndBitwiseAnd(memory, at, ~(1L << bit));
    }
}
