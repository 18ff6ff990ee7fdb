// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What an auction would trade if it ended now. */
public final class Indicative extends Message {
    public static final int ID = 6;
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

    /** Of which instrument. */
    public int instrument() {
        return getInt(0);
    }

    public void instrument(int value) {
        setInt(0, value);
    }

    /** Its price; `Price.NONE` if nothing would trade. */
    public long price() {
        return getLong(8);
    }

    public void price(long value) {
        setLong(8, value);
    }

    /** How much would trade. */
    public long quantity() {
        return getLong(16);
    }

    public void quantity(long value) {
        setLong(16, value);
    }

    /** How much more buyers offer at that price than sellers; negative: sellers more. */
    public long imbalance() {
        return getLong(24);
    }

    public void imbalance(long value) {
        setLong(24, value);
    }

    /** The market's own time. */
    public long eventTime() {
        return getLong(32);
    }

    public void eventTime(long value) {
        setLong(32, value);
    }

    /** The market's number of the last event before it. */
    public long sequence() {
        return getLong(40);
    }

    public void sequence(long value) {
        setLong(40, value);
    }
}
