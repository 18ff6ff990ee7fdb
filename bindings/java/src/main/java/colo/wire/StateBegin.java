// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** A matching process begins with empty books: what came before is void. */
public final class StateBegin extends Message {
    public static final int ID = 55;
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

    /** Generation of the process. */
    public long generation() {
        return getLong(0);
    }

    public void generation(long value) {
        setLong(0, value);
    }
}
