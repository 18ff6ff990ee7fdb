// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What is due at a time is done now: behind this request, and before the next. */
public final class DueTime extends Message {
    public static final int ID = 54;
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

    /** Position in `td.orders`. */
    public long request() {
        return getLong(0);
    }

    public void request(long value) {
        setLong(0, value);
    }

    /** The time. */
    public long time() {
        return getLong(8);
    }

    public void time(long value) {
        setLong(8, value);
    }
}
