// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** The end of md's journal: nothing follows it in this run. */
public final class EndOfStream extends Message {
    public static final int ID = 41;
    public static final int SIZE = 48;

    @Override
    public int messageId() {
        return ID;
    }

    @Override
    public int size() {
        return SIZE;
    }

    @Override
    public boolean isValid() {
        return true;
    }

    /** Quotes published. */
    public long quotes() {
        return getLong(0);
    }

    public void quotes(long value) {
        setLong(0, value);
    }

    /** Trade prints published. */
    public long trades() {
        return getLong(8);
    }

    public void trades(long value) {
        setLong(8, value);
    }

    /** Order-flow events published. */
    public long bookEvents() {
        return getLong(16);
    }

    public void bookEvents(long value) {
        setLong(16, value);
    }

    /** Messages (rows, records) read from the source. */
    public long sourceMessages() {
        return getLong(24);
    }

    public void sourceMessages(long value) {
        setLong(24, value);
    }

    /** Of those: left out on purpose (out of the time window, of a kind without effect on the book). */
    public long skipped() {
        return getLong(32);
    }

    public void skipped(long value) {
        setLong(32, value);
    }

    /** Of those: not understood. Zero unless the config tolerates them. */
    public long rejected() {
        return getLong(40);
    }

    public void rejected(long value) {
        setLong(40, value);
    }
}
