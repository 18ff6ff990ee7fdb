package compare;

import java.util.Arrays;

/** Quantiles as {@code src/task.rs} takes and writes them. */
final class Quantiles {
    private Quantiles() {
    }

    static String of(long[] times, double scale) {
        Arrays.sort(times);
        return "{\"count\":" + times.length + ",\"p50\":" + at(times, 0.5) * scale + ",\"p99\":" + at(times, 0.99) * scale
                + ",\"p999\":" + at(times, 0.999) * scale + ",\"max\":" + at(times, 1.0) * scale + "}";
    }

    private static double at(long[] sorted, double share) {
        if (sorted.length == 0) {
            return 0;
        }
        int rank = (int) Math.ceil(sorted.length * share);
        return sorted[Math.max(rank, 1) - 1];
    }
}
