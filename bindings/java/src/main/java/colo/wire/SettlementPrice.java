// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** First step of a settlement: the price at which an instrument's positions are settled. */
public final class SettlementPrice extends Message {
    public static final int ID = 67;
    public static final int SIZE = 16;

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

    /** The day, as 20260131. */
    public int day() {
        return getInt(0);
    }

    public void day(int value) {
        setInt(0, value);
    }

    /** Of which instrument; zero: prices that were entered and not executed are taken back. */
    public int instrument() {
        return getInt(4);
    }

    public void instrument(int value) {
        setInt(4, value);
    }

    /** The price. */
    public long price() {
        return getLong(8);
    }

    public void price(long value) {
        setLong(8, value);
    }
}
