// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What an instrument's market is doing, beside its orders. */
public final class MarketImage extends Message {
    public static final int ID = 51;
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
        return TradingPhase.of(getByte(4)) != null;
    }

    /** Which instrument. */
    public int instrument() {
        return getInt(0);
    }

    public void instrument(int value) {
        setInt(0, value);
    }

    /** Its phase. */
    public TradingPhase phase() {
        return TradingPhase.of(getByte(4));
    }

    public void phase(TradingPhase value) {
        setByte(4, value.value());
    }

    /** The price of its last trade; `Price.NONE` before the first. */
    public long lastPrice() {
        return getLong(8);
    }

    public void lastPrice(long value) {
        setLong(8, value);
    }

    /** When its volatility auction ends; the largest number: there is none. */
    public long auctionEnds() {
        return getLong(16);
    }

    public void auctionEnds(long value) {
        setLong(16, value);
    }

    /** The number of its last event in `matching.market`. */
    public long sequence() {
        return getLong(24);
    }

    public void sequence(long value) {
        setLong(24, value);
    }
}
