// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Second step of a settlement: all prices are there, execute it. */
public final class Settle extends Message {
    public static final int ID = 68;
    public static final int SIZE = 40;
    /** A person confirms a day or prices that look like a slip: without it td refuses them. */
    public static final int FORCED_SETTLEMENT = 1;

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

    /** The day, as 20260131. */
    public int day() {
        return getInt(0);
    }

    public void day(int value) {
        setInt(0, value);
    }

    /** How it is meant. */
    public int flags() {
        return getInt(4);
    }

    public void flags(int value) {
        setInt(4, value);
    }

    /** Who does it. */
    public String who() {
        return getText(8, 32);
    }

    public void who(String value) {
        setText(8, 32, value);
    }
}
