// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What a currency is worth in the currency that the platform counts in. */
public final class CurrencyRate extends Message {
    public static final int ID = 66;
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

    /** Which currency. */
    public String currency() {
        return getText(0, 8);
    }

    public void currency(String value) {
        setText(0, 8, value);
    }

    /** In 1e-9; positive. */
    public long rate() {
        return getLong(8);
    }

    public void rate(long value) {
        setLong(8, value);
    }
}
