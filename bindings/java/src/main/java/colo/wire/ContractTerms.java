// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What the accounts need to know of an instrument. */
public final class ContractTerms extends Message {
    public static final int ID = 65;
    public static final int SIZE = 64;
    /** Orders are taken now. */
    public static final int TRADABLE = 1;
    /** It may be sold short. */
    public static final int SHORTABLE = 2;
    /** The exchange tells closing today's position from closing an earlier day's; a plain close is of earlier days. */
    public static final int TODAY_APART = 4;

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

    /** Which one. */
    public int instrument() {
        return getInt(0);
    }

    public void instrument(int value) {
        setInt(0, value);
    }

    /** What is true of it. */
    public int flags() {
        return getInt(4);
    }

    public void flags(int value) {
        setInt(4, value);
    }

    /** Its name. */
    public String symbol() {
        return getText(8, 24);
    }

    public void symbol(String value) {
        setText(8, 24, value);
    }

    /** In which money it is paid. */
    public String currency() {
        return getText(32, 8);
    }

    public void currency(String value) {
        setText(32, 8, value);
    }

    /** One lot is worth the price times this; at least 1. */
    public long multiplier() {
        return getLong(40);
    }

    public void multiplier(long value) {
        setLong(40, value);
    }

    /** Lowest price an order may have, or `Price.NONE`. */
    public long priceLow() {
        return getLong(48);
    }

    public void priceLow(long value) {
        setLong(48, value);
    }

    /** Highest price an order may have, or `Price.NONE`. */
    public long priceHigh() {
        return getLong(56);
    }

    public void priceHigh(long value) {
        setLong(56, value);
    }
}
