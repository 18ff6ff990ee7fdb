package colo.node;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** The node's log: standard error, in the form of all nodes. Reports find the reason of a failure by it. */
public enum Log {
    ERROR,
    WARN,
    INFO;

    private static final DateTimeFormatter STAMP =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    /** Writes one line. Makes garbage. */
    public void line(String target, String text) {
        System.err.print("[" + STAMP.format(Instant.now()) + " " + String.format("%-5s", this) + " " + target + "] " + text + "\n");
        System.err.flush();
    }
}
