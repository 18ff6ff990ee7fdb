// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Takes what is left of an order out of the book. */
public final class CancelOrder extends Message {
    public static final int ID = 11;
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

    /** Which order. */
    public long orderId() {
        return getLong(0);
    }

    public void orderId(long value) {
        setLong(0, value);
    }

    /** Its instrument. */
    public int instrument() {
        return getInt(8);
    }

    public void instrument(int value) {
        setInt(8, value);
    }

    /** In `td.orders`: low 31 bits of the number of the line at which the request stands in its strategy's journal; where td asks by itself 2^31 and a number of its own. In the strategy's journal: zero. */
    public int source() {
        return getInt(12);
    }

    public void source(int value) {
        setInt(12, value);
    }
}
