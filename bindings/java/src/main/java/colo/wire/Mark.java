// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** The price at which positions count from here on. */
public final class Mark extends Message {
    public static final int ID = 70;
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

    /** Of which instrument. */
    public int instrument() {
        return getInt(0);
    }

    public void instrument(int value) {
        setInt(0, value);
    }

    /** The price. */
    public long price() {
        return getLong(8);
    }

    public void price(long value) {
        setLong(8, value);
    }
}
