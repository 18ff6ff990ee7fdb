// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** The begin of a snapshot of one strategy, or of all. */
public final class SnapshotBegin extends Message {
    public static final int ID = 30;
    public static final int SIZE = 40;

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

    /** Number of this snapshot; the end carries the same. */
    public long snapshot() {
        return getLong(0);
    }

    public void snapshot(long value) {
        setLong(0, value);
    }

    /** Position in `matching.executions` before which executions are contained in it: those from it on are new. */
    public long execution() {
        return getLong(8);
    }

    public void execution(long value) {
        setLong(8, value);
    }

    /** For whom; `u16.MAX`: for everybody. */
    public int strategy() {
        return getShort(16) & 0xffff;
    }

    public void strategy(int value) {
        setShort(16, (short) value);
    }

    /** Generation of the seat that it is for: a restarted strategy ignores its predecessor's. */
    public long generation() {
        return getLong(24);
    }

    public void generation(long value) {
        setLong(24, value);
    }

    /** Number of the last trade in the executions that it contains: a restarted matching continues after it. */
    public long trade() {
        return getLong(32);
    }

    public void trade(long value) {
        setLong(32, value);
    }
}
