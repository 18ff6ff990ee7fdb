// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** The best ten levels of both sides after one event in the market. */
public final class Quote extends Message {
    public static final int ID = 2;
    public static final int SIZE = 368;
    /** The market is in a call auction, or closed: orders are collected, nothing trades but at the auction's end. */
    public static final int CALL_AUCTION = 1;

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

    /** Of which instrument. */
    public int instrument() {
        return getInt(0);
    }

    public void instrument(int value) {
        setInt(0, value);
    }

    /** State of the market. */
    public int flags() {
        return getInt(4);
    }

    public void flags(int value) {
        setInt(4, value);
    }

    /** When the generator's schedule wanted it published (t0), on the platform's clock; zero when replayed at "max" speed, which has no schedule. */
    public long due() {
        return getLong(8);
    }

    public void due(long value) {
        setLong(8, value);
    }

    /** The market's own time of the event. */
    public long eventTime() {
        return getLong(16);
    }

    public void eventTime(long value) {
        setLong(16, value);
    }

    /** The source's own number of the event (row, channel sequence); grows with every event. */
    public long sequence() {
        return getLong(24);
    }

    public void sequence(long value) {
        setLong(24, value);
    }

    /** Price of the last trade, or `Price.NONE`. */
    public long lastPrice() {
        return getLong(32);
    }

    public void lastPrice(long value) {
        setLong(32, value);
    }

    /** Quantity of the last trade. */
    public long lastQuantity() {
        return getLong(40);
    }

    public void lastQuantity(long value) {
        setLong(40, value);
    }

    /** `Price.NONE` where the book has no such level. */
    public long bidsPrice(int index) {
        return getLong(48 + 16 * inside(index, 10));
    }

    public void bidsPrice(int index, long value) {
        setLong(48 + 16 * inside(index, 10), value);
    }

    /** Zero where the book has no such level. */
    public long bidsQuantity(int index) {
        return getLong(56 + 16 * inside(index, 10));
    }

    public void bidsQuantity(int index, long value) {
        setLong(56 + 16 * inside(index, 10), value);
    }

    /** `Price.NONE` where the book has no such level. */
    public long asksPrice(int index) {
        return getLong(208 + 16 * inside(index, 10));
    }

    public void asksPrice(int index, long value) {
        setLong(208 + 16 * inside(index, 10), value);
    }

    /** Zero where the book has no such level. */
    public long asksQuantity(int index) {
        return getLong(216 + 16 * inside(index, 10));
    }

    public void asksQuantity(int index, long value) {
        setLong(216 + 16 * inside(index, 10), value);
    }
}
