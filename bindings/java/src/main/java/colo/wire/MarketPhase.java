// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** An instrument's market changed its phase. */
public final class MarketPhase extends Message {
    public static final int ID = 5;
    public static final int SIZE = 24;

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

    /** Of which instrument. */
    public int instrument() {
        return getInt(0);
    }

    public void instrument(int value) {
        setInt(0, value);
    }

    /** The phase from now on. */
    public TradingPhase phase() {
        return TradingPhase.of(getByte(4));
    }

    public void phase(TradingPhase value) {
        setByte(4, value.value());
    }

    /** The market's own time. */
    public long eventTime() {
        return getLong(8);
    }

    public void eventTime(long value) {
        setLong(8, value);
    }

    /** The market's number of the event, counted with its book events. The number of the event before it: an exchange of strategies repeats the phase behind a snapshot, or a recorded market enters it by the clock. */
    public long sequence() {
        return getLong(16);
    }

    public void sequence(long value) {
        setLong(16, value);
    }
}
