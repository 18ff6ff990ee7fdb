// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What became of an entry of `desk.entries`. If it was taken, its copy is the frame before this one: there it took effect. Without a position: those that the platform file begins with are all taken. */
public final class EntryResult extends Message {
    public static final int ID = 69;
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

    /** Position of the entry in `desk.entries`. */
    public long entry() {
        return getLong(0);
    }

    public void entry(long value) {
        setLong(0, value);
    }

    /** Why it was refused, by the numbers of `docs/accounts.md`; zero: it was taken. */
    public int refusal() {
        return getInt(8);
    }

    public void refusal(int value) {
        setInt(8, value);
    }

    /** The instrument or the day that the refusal is about; otherwise zero. */
    public int about() {
        return getInt(12);
    }

    public void about(int value) {
        setInt(12, value);
    }
}
