package colo.node;

/** Counters of a seat: docs/journal-format.md, <i>Values</i>. */
public enum Counter {
    FRAMES_READ(0),
    FULL(2),
    GAPS(3),
    BYTES_LOST(4),
    PARKS(5),
    WAKES(6),
    WAIT_TIMEOUTS(7),
    WAIT_TIMEOUTS_WITH_DATA(8),
    MALFORMED(9),
    QUOTES(10),
    TRADES(11),
    BOOK_EVENTS(12),
    ORDERS(13),
    CANCELS(14),
    REJECTS(15),
    FILLS(16),
    ANOMALIES(21),
    OVERRUNS(24),
    OVERRUN_MAX(25),
    REPLACES(27),
    CANCEL_REJECTS(28),
    REPLACE_REJECTS(29),
    MARKET_DUE(48),
    ;

    private final int number;

    Counter(int number) {
        this.number = number;
    }

    /** Of its word, over both places of counters. */
    public int number() {
        return number;
    }
}
