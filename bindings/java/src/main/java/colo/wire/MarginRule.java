// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** How much margin a position takes. The most specific rule holds, as with `FeeRule`. */
public final class MarginRule extends Message {
    public static final int ID = 64;
    public static final int SIZE = 176;

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

    /** For which account; zero: everybody. */
    public int account() {
        return getInt(0);
    }

    public void account(int value) {
        setInt(0, value);
    }

    /** In which instrument; zero: as `prefix` says. */
    public int instrument() {
        return getInt(4);
    }

    public void instrument(int value) {
        setInt(4, value);
    }

    /** In instruments whose names begin like this; empty: all. */
    public String prefix() {
        return getText(8, 24);
    }

    public void prefix(String value) {
        setText(8, 24, value);
    }

    /** Of a long position, part of what it is worth, in 1e-9. */
    public long longRate() {
        return getLong(32);
    }

    public void longRate(long value) {
        setLong(32, value);
    }

    /** Of a short one. */
    public long shortRate() {
        return getLong(40);
    }

    public void shortRate(long value) {
        setLong(40, value);
    }

    /** Of a long position, for each lot. */
    public long longPerLotLow() {
        return getLong(48);
    }

    /** The upper half. */
    public long longPerLotHigh() {
        return getLong(56);
    }

    public void longPerLot(long low, long high) {
        setLong(48, low);
        setLong(56, high);
    }

    /** Of a short one. */
    public long shortPerLotLow() {
        return getLong(64);
    }

    /** The upper half. */
    public long shortPerLotHigh() {
        return getLong(72);
    }

    public void shortPerLot(long low, long high) {
        setLong(64, low);
        setLong(72, high);
    }

    /** Who does it. */
    public String who() {
        return getText(80, 32);
    }

    public void who(String value) {
        setText(80, 32, value);
    }

    /** For which reason. */
    public String why() {
        return getText(112, 64);
    }

    public void why(String value) {
        setText(112, 64, value);
    }
}
