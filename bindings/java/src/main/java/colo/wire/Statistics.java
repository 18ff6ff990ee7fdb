// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What has traded in an instrument on this day. */
public final class Statistics extends Message {
    public static final int ID = 15;
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

    /** Of which instrument. */
    public int instrument() {
        return getInt(0);
    }

    public void instrument(int value) {
        setInt(0, value);
    }

    /** Price of the first trade, or `Price.NONE`. */
    public long open() {
        return getLong(8);
    }

    public void open(long value) {
        setLong(8, value);
    }

    /** Highest price of a trade, or `Price.NONE`. */
    public long high() {
        return getLong(16);
    }

    public void high(long value) {
        setLong(16, value);
    }

    /** Lowest price of a trade, or `Price.NONE`. */
    public long low() {
        return getLong(24);
    }

    public void low(long value) {
        setLong(24, value);
    }

    /** Price of the last trade, or `Price.NONE`. */
    public long last() {
        return getLong(32);
    }

    public void last(long value) {
        setLong(32, value);
    }

    /** How much has traded. */
    public long volume() {
        return getLong(40);
    }

    public void volume(long value) {
        setLong(40, value);
    }

    /** Number of trades. */
    public long trades() {
        return getLong(48);
    }

    public void trades(long value) {
        setLong(48, value);
    }

    /** Number of the last trade that is counted, or zero. */
    public long tradeId() {
        return getLong(56);
    }

    public void tradeId(long value) {
        setLong(56, value);
    }

    /** What was paid for it, exactly. */
    public long turnoverLow() {
        return getLong(64);
    }

    /** The upper half. */
    public long turnoverHigh() {
        return getLong(72);
    }

    public void turnover(long low, long high) {
        setLong(64, low);
        setLong(72, high);
    }

    /** The market's own time. */
    public long eventTime() {
        return getLong(80);
    }

    public void eventTime(long value) {
        setLong(80, value);
    }

    /** The market's number of the last event before it. */
    public long sequence() {
        return getLong(88);
    }

    public void sequence(long value) {
        setLong(88, value);
    }
}
