// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** An instrument and its rules. Written once per instrument, before anything else about it. */
public final class Instrument extends Message {
    public static final int ID = 1;
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

    /** Its number, which is also its topic in `md.quotes` and `md.flow`. */
    public int id() {
        return getInt(0);
    }

    public void id(int value) {
        setInt(0, value);
    }

    /** Its name. */
    public String symbol() {
        return getText(8, 24);
    }

    public void symbol(String value) {
        setText(8, 24, value);
    }

    /** Prices are multiples of this; zero or less: any price. */
    public long tick() {
        return getLong(32);
    }

    public void tick(long value) {
        setLong(32, value);
    }

    /** Quantities are multiples of this; at least 1. */
    public long lot() {
        return getLong(40);
    }

    public void lot(long value) {
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

    /** A price to start from (previous close, first trade), or `Price.NONE`. */
    public long referencePrice() {
        return getLong(64);
    }

    public void referencePrice(long value) {
        setLong(64, value);
    }

    /** Largest quantity of one order; zero: no limit. */
    public long maxQuantity() {
        return getLong(72);
    }

    public void maxQuantity(long value) {
        setLong(72, value);
    }

    /** One unit of quantity is worth the price times this; zero: 1. */
    public long multiplier() {
        return getLong(80);
    }

    public void multiplier(long value) {
        setLong(80, value);
    }

    /** In which money it is paid; empty: nobody has said. */
    public String currency() {
        return getText(88, 8);
    }

    public void currency(String value) {
        setText(88, 8, value);
    }
}
