// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Changes price or quantity of a working order. It keeps its place only if the price stays and the quantity does not grow. */
public final class ReplaceOrder extends Message {
    public static final int ID = 12;
    public static final int SIZE = 32;

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

    /** New limit price. */
    public long price() {
        return getLong(16);
    }

    public void price(long value) {
        setLong(16, value);
    }

    /** New total quantity, what has traded included. */
    public long quantity() {
        return getLong(24);
    }

    public void quantity(long value) {
        setLong(24, value);
    }
}
