// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** The market's time has come to this, and all that the market did up to it has been published. Only in lock-step, where a strategy's timer or bar, a request or a report is due before the next event of the market. */
public final class MarketTime extends Message {
    public static final int ID = 8;
    public static final int SIZE = 8;

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

    /** The market's own time. */
    public long eventTime() {
        return getLong(0);
    }

    public void eventTime(long value) {
        setLong(0, value);
    }
}
