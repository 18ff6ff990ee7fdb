// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** One event of the market's order flow (market by order): what matching rebuilds the market's book from. */
public final class BookEvent extends Message {
    public static final int ID = 4;
    public static final int SIZE = 56;
    /** With `BookAction.Modify`: the order goes behind all others at its price. */
    public static final int LOSES_PRIORITY = 1;
    /** Last part of one event of the source: the book is whole again after it. */
    public static final int IS_LAST = 2;
    /** The market is in a call auction, or closed: orders are collected, nothing trades but at the auction's end. */
    public static final int CALL_AUCTION = 4;
    /** Part of a snapshot of the book, for readers that join late or were lapped: a `BookAction.Clear`, then an `BookAction.Add` an order, in priority. Who has the book already passes over it. Its `sequence` is that of the last event that it includes. */
    public static final int IS_SNAPSHOT = 8;
    /** With `BookAction.Trade`: the order that rested was hidden, and the source says so. Without it, it may be a displayed one from before the recording's first message. */
    public static final int IS_HIDDEN = 16;
    /** With `BookAction.Execute` and `BookAction.Trade`: neither side came in, as in a cross, or the source does not say which one did. The side of a trade means nothing then. */
    public static final int HAS_NO_SIDE = 32;
    /** With `BookAction.Execute` and `BookAction.Trade`: no trade of its own in what the market reports as traded. Another event has its quantity. */
    public static final int IS_UNPRINTED = 64;

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
        return BookAction.of(getByte(4)) != null
            && Side.of(getByte(5)) != null;
    }

    /** Of which instrument. */
    public int instrument() {
        return getInt(0);
    }

    public void instrument(int value) {
        setInt(0, value);
    }

    /** What it does. */
    public BookAction action() {
        return BookAction.of(getByte(4));
    }

    public void action(BookAction value) {
        setByte(4, value.value());
    }

    /** Side of the resting order. */
    public Side side() {
        return Side.of(getByte(5));
    }

    public void side(Side value) {
        setByte(5, value.value());
    }

    /** What to know about the event beside its action. */
    public int flags() {
        return getShort(6) & 0xffff;
    }

    public void flags(int value) {
        setShort(6, (short) value);
    }

    /** The market's number of the resting order; zero where there is none. */
    public long orderRef() {
        return getLong(8);
    }

    public void orderRef(long value) {
        setLong(8, value);
    }

    /** Price of the order, or of the trade. */
    public long price() {
        return getLong(16);
    }

    public void price(long value) {
        setLong(16, value);
    }

    /** Quantity added, taken away or traded; the new total for `BookAction.Modify`. */
    public long quantity() {
        return getLong(24);
    }

    public void quantity(long value) {
        setLong(24, value);
    }

    /** The market's own time. */
    public long eventTime() {
        return getLong(32);
    }

    public void eventTime(long value) {
        setLong(32, value);
    }

    /** The source's own number of the event. */
    public long sequence() {
        return getLong(40);
    }

    public void sequence(long value) {
        setLong(40, value);
    }
}
