package colo.strategy;

/** Timers that are set, the next one last; of two with the same time, the one set first. */
final class Timers {
    private long[] due = new long[64];
    private long[] ids = new long[64];
    private long[] keys = new long[64];
    private boolean[] floating = new boolean[64];
    private int size;
    private long next = 1;
    /** Of the timer that was popped last. */
    long poppedId;
    long poppedKey;
    long poppedDue;

    long set(long at, long key, boolean floats) {
        if (size == due.length) {
            due = java.util.Arrays.copyOf(due, 2 * size);
            ids = java.util.Arrays.copyOf(ids, 2 * size);
            keys = java.util.Arrays.copyOf(keys, 2 * size);
            floating = java.util.Arrays.copyOf(floating, 2 * size);
        }
        int index = size;
        while (index > 0 && due[index - 1] <= at) {
            move(index - 1, index);
            index--;
        }
        size++;
        due[index] = at;
        ids[index] = next;
        keys[index] = key;
        floating[index] = floats;
        return next++;
    }

    private void move(int from, int to) {
        due[to] = due[from];
        ids[to] = ids[from];
        keys[to] = keys[from];
        floating[to] = floating[from];
    }

    boolean cancel(long id) {
        for (int index = 0; index < size; index++) {
            if (ids[index] == id) {
                for (int later = index + 1; later < size; later++) {
                    move(later, later - 1);
                }
                size--;
                return true;
            }
        }
        return false;
    }

    /** When the next one is due; Long.MAX_VALUE: none is set. */
    long nextDue() {
        return size == 0 ? Long.MAX_VALUE : due[size - 1];
    }

    long limit() {
        return next;
    }

    /** Takes the next one, if it is due and was set before limit. */
    boolean pop(long now, long limit) {
        if (size == 0 || due[size - 1] > now || ids[size - 1] >= limit) {
            return false;
        }
        size--;
        poppedId = ids[size];
        poppedKey = keys[size];
        poppedDue = due[size];
        return true;
    }

    /** The start is known, from which some count. */
    void begin(long start) {
        int count = size;
        long[][] all = new long[count][];
        for (int index = 0; index < count; index++) {
            all[index] = new long[] {due[index] + (floating[index] ? start : 0), ids[index], keys[index]};
        }
        java.util.Arrays.sort(all, (one, other) -> one[0] != other[0] ? Long.compare(other[0], one[0]) : Long.compare(other[1], one[1]));
        for (int index = 0; index < count; index++) {
            due[index] = all[index][0];
            ids[index] = all[index][1];
            keys[index] = all[index][2];
            floating[index] = false;
        }
    }
}
