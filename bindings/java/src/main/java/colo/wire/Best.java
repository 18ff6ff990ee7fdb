// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** The best level of both sides after one event in the market. The instrument is the frame's topic. Quantities are in the units of `Quote`'s, up to `Best.MOST`: a greater one is shown as that, and then means "at least so much". A strategy that has to know the rest asks for the depth. */
public final class Best extends Message {
    public static final int ID = 7;
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
        return true;
    }

    /** Best bid's price, or `Price.NONE`. */
    public long bid() {
        return getLong(0);
    }

    public void bid(long value) {
        setLong(0, value);
    }

    /** Best ask's price, or `Price.NONE`. */
    public long ask() {
        return getLong(8);
    }

    public void ask(long value) {
        setLong(8, value);
    }

    /** Quantity at the best bid, zero where there is none; `Best.MOST`: at least so much. */
    public int bidQuantity() {
        return getInt(16);
    }

    public void bidQuantity(int value) {
        setInt(16, value);
    }

    /** Quantity at the best ask, zero where there is none; `Best.MOST`: at least so much. */
    public int askQuantity() {
        return getInt(20);
    }

    public void askQuantity(int value) {
        setInt(20, value);
    }

    /** When the schedule wanted it published, as in `Quote.due`. */
    public long due() {
        return getLong(24);
    }

    public void due(long value) {
        setLong(24, value);
    }
}
