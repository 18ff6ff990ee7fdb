// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** The end of the snapshot of the same number: it is whole. */
public final class SnapshotEnd extends Message {
    public static final int ID = 31;
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

    /** As in `SnapshotBegin`. */
    public long snapshot() {
        return getLong(0);
    }

    public void snapshot(long value) {
        setLong(0, value);
    }

    /** Frames between begin and end. */
    public long frames() {
        return getLong(8);
    }

    public void frames(long value) {
        setLong(8, value);
    }

    /** For whom. */
    public int strategy() {
        return getShort(16) & 0xffff;
    }

    public void strategy(int value) {
        setShort(16, (short) value);
    }

    /** As in `SnapshotBegin`. */
    public long generation() {
        return getLong(24);
    }

    public void generation(long value) {
        setLong(24, value);
    }
}
