// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** One strategy's position in one instrument. */
public final class PositionState extends Message {
    public static final int ID = 32;
    public static final int SIZE = 96;

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

    /** Whose. */
    public int strategy() {
        return getShort(0) & 0xffff;
    }

    public void strategy(int value) {
        setShort(0, (short) value);
    }

    /** In what. */
    public int instrument() {
        return getInt(4);
    }

    public void instrument(int value) {
        setInt(4, value);
    }

    /** Signed: short is negative. */
    public long position() {
        return getLong(8);
    }

    public void position(long value) {
        setLong(8, value);
    }

    /** Average price of what is open; zero when flat. */
    public long averagePrice() {
        return getLong(16);
    }

    public void averagePrice(long value) {
        setLong(16, value);
    }

    /** Profit and loss of what was closed, rounded towards zero. */
    public long realised() {
        return getLong(24);
    }

    public void realised(long value) {
        setLong(24, value);
    }

    /** Profit and loss of what is open, at `mark_price`, rounded towards zero. */
    public long unrealised() {
        return getLong(32);
    }

    public void unrealised(long value) {
        setLong(32, value);
    }

    /** Latest mid, or last trade; `Price.NONE` before the first. */
    public long markPrice() {
        return getLong(40);
    }

    public void markPrice(long value) {
        setLong(40, value);
    }

    /** All that was bought. */
    public long bought() {
        return getLong(48);
    }

    public void bought(long value) {
        setLong(48, value);
    }

    /** All that was sold. */
    public long sold() {
        return getLong(56);
    }

    public void sold(long value) {
        setLong(56, value);
    }

    /** Number of fills. */
    public long fills() {
        return getLong(64);
    }

    public void fills(long value) {
        setLong(64, value);
    }

    /** Number of orders that matching accepted. */
    public long orders() {
        return getLong(72);
    }

    public void orders(long value) {
        setLong(72, value);
    }

    /** What sales brought less what purchases cost, exactly. */
    public long cashLow() {
        return getLong(80);
    }

    /** The upper half. */
    public long cashHigh() {
        return getLong(88);
    }

    public void cash(long low, long high) {
        setLong(80, low);
        setLong(88, high);
    }
}
