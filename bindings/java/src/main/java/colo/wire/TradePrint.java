// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** A trade as the market reported it. */
public final class TradePrint extends Message {
    public static final int ID = 3;
    public static final int SIZE = 56;

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
        return Aggressor.of(getByte(4)) != null;
    }

    /** Of which instrument. */
    public int instrument() {
        return getInt(0);
    }

    public void instrument(int value) {
        setInt(0, value);
    }

    /** Whose incoming order caused it. */
    public Aggressor aggressor() {
        return Aggressor.of(getByte(4));
    }

    public void aggressor(Aggressor value) {
        setByte(4, value.value());
    }

    /** When the schedule wanted it published, as in `Quote.due`. */
    public long due() {
        return getLong(8);
    }

    public void due(long value) {
        setLong(8, value);
    }

    /** The market's own time. */
    public long eventTime() {
        return getLong(16);
    }

    public void eventTime(long value) {
        setLong(16, value);
    }

    /** The source's own number of the event. */
    public long sequence() {
        return getLong(24);
    }

    public void sequence(long value) {
        setLong(24, value);
    }

    /** At which price. */
    public long price() {
        return getLong(32);
    }

    public void price(long value) {
        setLong(32, value);
    }

    /** How much. */
    public long quantity() {
        return getLong(40);
    }

    public void quantity(long value) {
        setLong(40, value);
    }

    /** The market's number of the trade, or zero. */
    public long tradeId() {
        return getLong(48);
    }

    public void tradeId(long value) {
        setLong(48, value);
    }
}
