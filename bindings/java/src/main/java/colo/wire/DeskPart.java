// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Part of a snapshot of all accounts, in `ledger.desk`: the bytes of all parts in a row are the snapshot. */
public final class DeskPart extends Message {
    public static final int ID = 72;
    public static final int SIZE = 4064;

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

    /** Position in the drop copy before which everything is contained. */
    public long drops() {
        return getLong(0);
    }

    public void drops(long value) {
        setLong(0, value);
    }

    /** Number of this part, from zero. */
    public int part() {
        return getInt(8);
    }

    public void part(int value) {
        setInt(8, value);
    }

    /** How many parts there are. */
    public int parts() {
        return getInt(12);
    }

    public void parts(int value) {
        setInt(12, value);
    }

    /** How many of its bytes count. */
    public int length() {
        return getInt(16);
    }

    public void length(int value) {
        setInt(16, value);
    }

    /** The bytes, as the accounts' crate writes them; zeros behind them. */
    public void bytes(byte[] to) {
        getBytes(24, 4040, to);
    }
}
