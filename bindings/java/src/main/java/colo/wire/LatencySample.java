// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** The five times of one order on the platform's clock, written by td as it takes the order. */
public final class LatencySample extends Message {
    public static final int ID = 13;
    public static final int SIZE = 48;

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

    /** Which order. */
    public long orderId() {
        return getLong(0);
    }

    public void orderId(long value) {
        setLong(0, value);
    }

    /** t0: when the quote was due; zero where there is no schedule. */
    public long due() {
        return getLong(8);
    }

    public void due(long value) {
        setLong(8, value);
    }

    /** t1: md committed the quote. */
    public long published() {
        return getLong(16);
    }

    public void published(long value) {
        setLong(16, value);
    }

    /** t2: the strategy received it. */
    public long received() {
        return getLong(24);
    }

    public void received(long value) {
        setLong(24, value);
    }

    /** t3: the strategy committed the order. */
    public long ordered() {
        return getLong(32);
    }

    public void ordered(long value) {
        setLong(32, value);
    }

    /** t4: td received it. */
    public long taken() {
        return getLong(40);
    }

    public void taken(long value) {
        setLong(40, value);
    }
}
