// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** A new order. Its frame's time is t3. */
public final class NewOrder extends Message {
    public static final int ID = 10;
    public static final int SIZE = 96;
    /** Rejected if any of it would trade at once; with any time in force that rests. */
    public static final int IS_POST_ONLY = 1;
    /** Where it would trade with an order of its owner, what is left of it is cancelled. */
    public static final int CANCEL_NEWEST = 2;
    /** Where it would trade with an order of its owner, that one is cancelled. With `cancel_newest` too: both. */
    public static final int CANCEL_OLDEST = 4;
    /** Where it would trade with an order of its owner, both lose the smaller open quantity without a trade. Not together with the other two. */
    public static final int DECREMENT = 8;
    /** Of a futures account: it opens. Without this and the next two: as the position allows. */
    public static final int OFFSET_OPEN = 16;
    /** Of a futures account: it closes what was opened today. With `offset_yesterday` too: of whichever day. */
    public static final int OFFSET_TODAY = 32;
    /** Of a futures account: it closes what was opened on an earlier day. */
    public static final int OFFSET_YESTERDAY = 64;
    /** It closes a position by force, and comes from the ledger, not from a strategy. */
    public static final int FORCED = 128;

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
        return Side.of(getByte(12)) != null
            && OrderType.of(getByte(13)) != null
            && TimeInForce.of(getByte(14)) != null;
    }

    /** Given by the strategy's own SDK; never used twice. */
    public long orderId() {
        return getLong(0);
    }

    public void orderId(long value) {
        setLong(0, value);
    }

    /** What to trade. */
    public int instrument() {
        return getInt(8);
    }

    public void instrument(int value) {
        setInt(8, value);
    }

    /** Buy or sell. */
    public Side side() {
        return Side.of(getByte(12));
    }

    public void side(Side value) {
        setByte(12, value.value());
    }

    /** Limit or market. */
    public OrderType orderType() {
        return OrderType.of(getByte(13));
    }

    public void orderType(OrderType value) {
        setByte(13, value.value());
    }

    /** How long it lives. */
    public TimeInForce timeInForce() {
        return TimeInForce.of(getByte(14));
    }

    public void timeInForce(TimeInForce value) {
        setByte(14, value.value());
    }

    /** Conditions. */
    public int flags() {
        return getByte(15) & 0xff;
    }

    public void flags(int value) {
        setByte(15, (byte) value);
    }

    /** Limit price; ignored for orders that have none (`OrderType.has_price`). */
    public long price() {
        return getLong(16);
    }

    public void price(long value) {
        setLong(16, value);
    }

    /** How much; positive. */
    public long quantity() {
        return getLong(24);
    }

    public void quantity(long value) {
        setLong(24, value);
    }

    /** Position of the frame in its journal; zero with journal zero: nothing caused it (a timer, the start). */
    public long causePosition() {
        return getLong(32);
    }

    public void causePosition(long value) {
        setLong(32, value);
    }

    /** t0: when it was due. */
    public long causeDue() {
        return getLong(40);
    }

    public void causeDue(long value) {
        setLong(40, value);
    }

    /** t1: when md committed it (the frame's time). */
    public long causePublished() {
        return getLong(48);
    }

    public void causePublished(long value) {
        setLong(48, value);
    }

    /** t2: when the strategy received it. */
    public long causeReceived() {
        return getLong(56);
    }

    public void causeReceived(long value) {
        setLong(56, value);
    }

    /** The journal's number within the instance. */
    public int causeJournal() {
        return getInt(64);
    }

    public void causeJournal(int value) {
        setInt(64, value);
    }

    /** For which account. */
    public int account() {
        return getInt(72);
    }

    public void account(int value) {
        setInt(72, value);
    }

    /** How many lots of it the book shows at a time; zero: all. */
    public int displayLots() {
        return getInt(76);
    }

    public void displayLots(int value) {
        setInt(76, value);
    }

    /** The price that a stop waits for; otherwise zero. */
    public long trigger() {
        return getLong(80);
    }

    public void trigger(long value) {
        setLong(80, value);
    }

    /** It trades at least so many lots at once, or nothing; zero: any quantity. */
    public int minimumLots() {
        return getInt(88);
    }

    public void minimumLots(int value) {
        setInt(88, value);
    }

    /** With `TimeInForce.GoodTillDate`: when it ends, in seconds of the market's time; otherwise zero. */
    public int endsS() {
        return getInt(92);
    }

    public void endsS(int value) {
        setInt(92, value);
    }
}
