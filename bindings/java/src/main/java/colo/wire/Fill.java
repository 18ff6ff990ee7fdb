// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Part of an order traded. Followed by an `OrderUpdate` with the order's state. */
public final class Fill extends Message {
    public static final int ID = 21;
    public static final int SIZE = 72;

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
        return Side.of(getByte(20)) != null
            && Liquidity.of(getByte(21)) != null;
    }

    /** Which order. */
    public long orderId() {
        return getLong(0);
    }

    public void orderId(long value) {
        setLong(0, value);
    }

    /** The engine's number of the trade; two of our own orders that trade with each other share it. */
    public long tradeId() {
        return getLong(8);
    }

    public void tradeId(long value) {
        setLong(8, value);
    }

    /** Its instrument. */
    public int instrument() {
        return getInt(16);
    }

    public void instrument(int value) {
        setInt(16, value);
    }

    /** Its side. */
    public Side side() {
        return Side.of(getByte(20));
    }

    public void side(Side value) {
        setByte(20, value.value());
    }

    /** Whether it rested. */
    public Liquidity liquidity() {
        return Liquidity.of(getByte(21));
    }

    public void liquidity(Liquidity value) {
        setByte(21, value.value());
    }

    /** At which price. */
    public long price() {
        return getLong(24);
    }

    public void price(long value) {
        setLong(24, value);
    }

    /** How much. */
    public long quantity() {
        return getLong(32);
    }

    public void quantity(long value) {
        setLong(32, value);
    }

    /** How much of the order still works. */
    public long remaining() {
        return getLong(40);
    }

    public void remaining(long value) {
        setLong(40, value);
    }

    /** Market time of the event that caused it, or zero. */
    public long eventTime() {
        return getLong(48);
    }

    public void eventTime(long value) {
        setLong(48, value);
    }

    /** As in `OrderUpdate.execution`. */
    public long execution() {
        return getLong(56);
    }

    public void execution(long value) {
        setLong(56, value);
    }

    /** As in `OrderUpdate.answered_up_to`. */
    public long answeredUpTo() {
        return getLong(64);
    }

    public void answeredUpTo(long value) {
        setLong(64, value);
    }
}
