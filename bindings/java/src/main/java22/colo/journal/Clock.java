package colo.journal;

import colo.layout.Journals;
import java.lang.foreign.MemorySegment;

/** Nanoseconds since the epoch: the platform's, or outside of one the system's. */
public final class Clock {
    private final MemorySegment registry;
    private final long offset;

    private Clock(MemorySegment registry, long offset) {
        this.registry = registry;
        this.offset = offset;
    }

    static Clock of(MemorySegment registry) {
        return new Clock(registry, 0);
    }

    /** For journals outside of a platform. */
    public static Clock monotonic() {
        return new Clock(null, System.currentTimeMillis() * 1_000_000 - System.nanoTime());
    }

    /** Java's nanoTime is CLOCK_MONOTONIC, which master measures the platform's clock by. */
    public long now() {
        return System.nanoTime() + (registry == null ? offset : Words.acquire(registry, Journals.REGISTRY_CLOCK_OFFSET));
    }
}
