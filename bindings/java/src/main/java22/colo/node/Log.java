package colo.node;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The node's log: standard error, in the form of all nodes. Reports find the reason of a failure by it. */
public enum Log {
    ERROR,
    WARN,
    INFO;

    /** Writes one line. Makes garbage. */
    public void line(String target, String text) {
        System.err.print("[" + Instant.now().truncatedTo(ChronoUnit.SECONDS) + " " + String.format("%-5s", this) + " " + target + "] " + text + "\n");
        System.err.flush();
    }
}
