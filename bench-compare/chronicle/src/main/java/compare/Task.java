package compare;

import java.nio.file.Path;

/** What this role of the block is told: the arguments of {@code src/rivals/chronicle.rs}, in its order. */
record Task(Path room, int role, int roles, int words, int cpu, int payload, long generation, String work,
            long first, long second) {

    static Task of(String[] args) {
        return new Task(Path.of(args[0]), Integer.parseInt(args[1]), Integer.parseInt(args[2]),
                Integer.parseInt(args[3]), Integer.parseInt(args[4]), Integer.parseInt(args[5]),
                Long.parseLong(args[6]), args[7], Long.parseLong(args[8]), Long.parseLong(args[9]));
    }

    boolean asleep() {
        return work.equals("asleep") || work.equals("sleepers");
    }

    /** Bytes of one mapping, large enough that nothing is mapped while it is measured. */
    long blockSize() {
        return switch (work) {
            case "ping" -> roomFor(first + second + PingPong.WARM_UP);
            case "one-way" -> 1L << 29;
            default -> 1L << 26;
        };
    }

    private long roomFor(long messages) {
        long bytes = messages * (payload + 16L) + (1 << 24);
        return Math.max(1L << 26, Long.highestOneBit(bytes) << 1);
    }
}
