// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Cancels all working orders of the strategy that match what is given. */
public final class CancelAll extends Message {
    public static final int ID = 14;
    public static final int SIZE = 24;
    /** Only orders for `account`. */
    public static final int OF_ACCOUNT = 1;
    /** Only orders of `side`. */
    public static final int OF_SIDE = 2;

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
        return Side.of(getByte(20)) != null;
    }

    /** Number of the request, from the same sequence as those of orders: its answer names it. */
    public long orderId() {
        return getLong(0);
    }

    public void orderId(long value) {
        setLong(0, value);
    }

    /** Only of this instrument; zero: of all. */
    public int instrument() {
        return getInt(8);
    }

    public void instrument(int value) {
        setInt(8, value);
    }

    /** As in `CancelOrder.source`. */
    public int source() {
        return getInt(12);
    }

    public void source(int value) {
        setInt(12, value);
    }

    /** Only for this account, with `of_account`. */
    public int account() {
        return getInt(16);
    }

    public void account(int value) {
        setInt(16, value);
    }

    /** Only of this side, with `of_side`. */
    public Side side() {
        return Side.of(getByte(20));
    }

    public void side(Side value) {
        setByte(20, value.value());
    }

    /** What is given. */
    public int flags() {
        return getByte(21) & 0xff;
    }

    public void flags(int value) {
        setByte(21, (byte) value);
    }
}
