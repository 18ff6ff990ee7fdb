package colo.node;

import java.util.List;
import java.util.Map;

/** All that a node needs to know, as master says it: docs/registration.md. */
@SuppressWarnings("unchecked")
public record Assignment(String node, String kind, int seat, long generation, boolean sleeps, long spinNanos, String wake,
    boolean deterministic, boolean recordedClock, long drainNanos, boolean lockMemory, Map<String, Object> section,
    String cpus, String policy, List<WriteOf> writes, List<ReadOf> reads) {

    /** A journal that the node writes. */
    public record WriteOf(String role, String journal, String huge) {}

    /** A journal that the node reads. */
    public record ReadOf(String role, String journal, String huge, boolean gated, boolean fromStart, boolean durable, int peerSeat) {}

    static Assignment of(Map<String, Object> of) {
        Object mode = of.get("mode");
        // Napping is a permission: this program parks instead, and is woken.
        boolean sleeps = !"fast".equals(mode);
        long spin = mode instanceof Map<?, ?> table && table.get("adaptive") instanceof Map<?, ?> adaptive
            ? nanos((String) adaptive.get("spin")) : 0;
        Map<String, Object> drain = (Map<String, Object>) of.get("drain");
        Map<String, Object> placement = (Map<String, Object>) of.get("placement");
        List<WriteOf> writes = ((List<Map<String, Object>>) of.get("writes")).stream()
            .map(write -> new WriteOf((String) write.get("role"), (String) write.get("journal"), (String) write.get("huge"))).toList();
        List<ReadOf> reads = ((List<Map<String, Object>>) of.get("reads")).stream()
            .map(read -> new ReadOf((String) read.get("role"), (String) read.get("journal"), (String) read.get("huge"),
                is(read, "gated"), is(read, "from_start"), is(read, "durable"), (int) number(read, "peer_seat"))).toList();
        return new Assignment((String) of.get("node"), (String) of.get("kind"), (int) number(of, "seat"), number(of, "generation"),
            sleeps, spin, (String) of.get("wake"), is(of, "deterministic"), is(of, "recorded_clock"),
            number(drain, "secs") * 1_000_000_000 + number(drain, "nanos"), is(of, "lock_memory"),
            of.get("section") instanceof Map<?, ?> section ? (Map<String, Object>) section : Map.of(),
            placement == null ? null : (String) placement.get("cpus"), placement == null ? null : (String) placement.get("policy"),
            writes, reads);
    }

    private static boolean is(Map<String, Object> of, String name) {
        return Boolean.TRUE.equals(of.get(name));
    }

    private static long number(Map<String, Object> of, String name) {
        return of.get(name) instanceof Long number ? number : 0;
    }

    /** Reads "1ms 500us". */
    public static long nanos(String text) {
        long sum = 0;
        java.util.regex.Matcher parts = java.util.regex.Pattern.compile("(\\d+)(ns|us|ms|s|m|h)").matcher(text);
        while (parts.find()) {
            sum += Long.parseLong(parts.group(1)) * switch (parts.group(2)) {
                case "ns" -> 1L;
                case "us" -> 1_000L;
                case "ms" -> 1_000_000L;
                case "s" -> 1_000_000_000L;
                case "m" -> 60_000_000_000L;
                default -> 3_600_000_000_000L;
            };
        }
        return sum;
    }
}
