// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** The newest order of a strategy: no order may have its number or an older one again. */
public final class NewestOrder extends Message {
    public static final int ID = 52;
    public static final int SIZE = 8;

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

    /** Its number. */
    public long orderId() {
        return getLong(0);
    }

    public void orderId(long value) {
        setLong(0, value);
    }
}
