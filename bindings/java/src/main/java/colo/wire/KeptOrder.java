// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** An order of a client of the gateway that works, again: the gateway writes it before the ring passes the frames of the order itself, so that its successor still finds the owner. td passes it over. */
public final class KeptOrder extends Message {
    public static final int ID = 17;
    public static final int SIZE = 176;
    /** It must end when the client's connection ends, that of a gateway that was killed among them. */
    public static final int ENDS_WITH_SESSION = 1;
    /** It must end: it is owed a cancel that the market has not carried out yet. */
    public static final int MUST_END = 2;

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
        return Side.of(getByte(168)) != null
            && OrderType.of(getByte(169)) != null
            && TimeInForce.of(getByte(170)) != null;
    }

    /** The order. */
    public long orderId() {
        return getLong(0);
    }

    public void orderId(long value) {
        setLong(0, value);
    }

    /** The token that it came with, by its public number. */
    public long token() {
        return getLong(8);
    }

    public void token(long value) {
        setLong(8, value);
    }

    /** Time of the frame that brought it. */
    public long sent() {
        return getLong(16);
    }

    public void sent(long value) {
        setLong(16, value);
    }

    /** Limit price of the order as it was sent. */
    public long price() {
        return getLong(24);
    }

    public void price(long value) {
        setLong(24, value);
    }

    /** Its quantity as it was sent. */
    public long quantity() {
        return getLong(32);
    }

    public void quantity(long value) {
        setLong(32, value);
    }

    /** The price that a stop waits for; otherwise zero. */
    public long trigger() {
        return getLong(40);
    }

    public void trigger(long value) {
        setLong(40, value);
    }

    /** What the client calls it; empty: nothing. */
    public String clientId() {
        return getText(48, 48);
    }

    public void clientId(String value) {
        setText(48, 48, value);
    }

    /** The client's address, as text; "unix" for a local socket. */
    public String address() {
        return getText(96, 48);
    }

    public void address(String value) {
        setText(96, 48, value);
    }

    /** What to trade. */
    public int instrument() {
        return getInt(144);
    }

    public void instrument(int value) {
        setInt(144, value);
    }

    /** For which account. */
    public int account() {
        return getInt(148);
    }

    public void account(int value) {
        setInt(148, value);
    }

    /** How many lots of it the book shows at a time; zero: all. */
    public int displayLots() {
        return getInt(152);
    }

    public void displayLots(int value) {
        setInt(152, value);
    }

    /** It trades at least so many lots at once, or nothing; zero: any quantity. */
    public int minimumLots() {
        return getInt(156);
    }

    public void minimumLots(int value) {
        setInt(156, value);
    }

    /** With `TimeInForce.GoodTillDate`: when it ends, in seconds of the market's time; otherwise zero. */
    public int endsS() {
        return getInt(160);
    }

    public void endsS(int value) {
        setInt(160, value);
    }

    /** What becomes of it. */
    public int flags() {
        return getShort(164) & 0xffff;
    }

    public void flags(int value) {
        setShort(164, (short) value);
    }

    /** The flags of the `NewOrder`. */
    public int conditions() {
        return getByte(166) & 0xff;
    }

    public void conditions(int value) {
        setByte(166, (byte) value);
    }

    /** Buy or sell. */
    public Side side() {
        return Side.of(getByte(168));
    }

    public void side(Side value) {
        setByte(168, value.value());
    }

    /** Limit or market. */
    public OrderType orderType() {
        return OrderType.of(getByte(169));
    }

    public void orderType(OrderType value) {
        setByte(169, value.value());
    }

    /** How long it lives. */
    public TimeInForce timeInForce() {
        return TimeInForce.of(getByte(170));
    }

    public void timeInForce(TimeInForce value) {
        setByte(170, value.value());
    }
}
