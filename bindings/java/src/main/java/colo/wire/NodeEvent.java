// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** A node joined or left. Written by master. */
public final class NodeEvent extends Message {
    public static final int ID = 40;
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
        return NodeChange.of(getByte(10)) != null
            && NodeRole.of(getByte(11)) != null;
    }

    /** Grows with every start in this seat. */
    public long generation() {
        return getLong(0);
    }

    public void generation(long value) {
        setLong(0, value);
    }

    /** The seat. */
    public int seat() {
        return getShort(8) & 0xffff;
    }

    public void seat(int value) {
        setShort(8, (short) value);
    }

    /** What happened. */
    public NodeChange change() {
        return NodeChange.of(getByte(10));
    }

    public void change(NodeChange value) {
        setByte(10, value.value());
    }

    /** What the node is. */
    public NodeRole role() {
        return NodeRole.of(getByte(11));
    }

    public void role(NodeRole value) {
        setByte(11, value.value());
    }

    /** Process id, in its own pid namespace. */
    public int pid() {
        return getInt(12);
    }

    public void pid(int value) {
        setInt(12, value);
    }

    /** Exit code, or 128 + signal, once it left or died and if known; else -1. */
    public int exitCode() {
        return getInt(16);
    }

    public void exitCode(int value) {
        setInt(16, value);
    }
}
