package colo.journal;

/** A journal is refused, or something that was asked of it: the message says what, where, and what to do. */
public final class JournalException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Why. */
    public enum Code {
        IO("io", "the system refuses"),
        FOREIGN("foreign", "is no colo journal"),
        VERSION("version", "has another format than this program knows: use programs of one build"),
        DAMAGED("damaged", "is damaged"),
        REPLACED("replaced", "belongs to another journal than its control page: open it anew"),
        WRITER_EXISTS("writer-exists", "is written by another process already"),
        SEAT_TAKEN("seat-taken", "is read in that seat by another process already"),
        NO_SUCH_SEAT("no-such-seat", "has no such seat"),
        NO_SUCH_POSITION("no-such-position", "has no such position"),
        NO_SUCH_TOPIC("no-such-topic", "has no such topic"),
        FULL("full", "is full: a gated reader holds its writer up; try again later"),
        BATCH_FULL("batch-full", "takes no more in one batch: commit it and begin another"),
        TOO_LARGE("too-large", "takes no payload so large"),
        ORDER_OF_CALLS("order-of-calls", "has an open batch: commit or abandon it first"),
        READ_ONLY("usage", "is open for reading alone"),
        ;

        private final String name;
        private final String text;

        Code(String name, String text) {
            this.name = name;
            this.text = text;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private final Code code;

    public JournalException(Code code, String journal, String detail) {
        super("journal `" + journal + "` " + code.text + " (" + detail + ")");
        this.code = code;
    }

    public Code code() {
        return code;
    }
}
