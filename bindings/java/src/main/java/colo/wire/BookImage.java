// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What is known of an instrument beside a recorded or quoted market, besides its orders. Beside a quoted market, what is left of the latest `Quote`(crate.Quote) follows. Where strategies took something of what quotes show, another follows it: how much they took, by price. */
public final class BookImage extends Message {
    public static final int ID = 57;
    public static final int SIZE = 24;

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

    /** Which instrument. */
    public int instrument() {
        return getInt(0);
    }

    public void instrument(int value) {
        setInt(0, value);
    }

    /** What is true of it, in matching's own bits. */
    public int bits() {
        return getInt(4);
    }

    public void bits(int value) {
        setInt(4, value);
    }

    /** The market's time of its latest message. */
    public long eventTime() {
        return getLong(8);
    }

    public void eventTime(long value) {
        setLong(8, value);
    }

    /** Zero. In recordings of older programs, so many `TakenImage` follow. */
    public long carried() {
        return getLong(16);
    }

    public void carried(long value) {
        setLong(16, value);
    }
}
