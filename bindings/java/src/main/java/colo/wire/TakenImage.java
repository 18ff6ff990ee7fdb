// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What strategies had taken of an order of the market that was swept away and may come again. No longer written: such orders are `RecordImage`s. */
public final class TakenImage extends Message {
    public static final int ID = 58;
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
        return true;
    }

    /** The market's reference. */
    public long reference() {
        return getLong(0);
    }

    public void reference(long value) {
        setLong(0, value);
    }

    /** How much. */
    public long taken() {
        return getLong(8);
    }

    public void taken(long value) {
        setLong(8, value);
    }

    /** Its instrument. */
    public int instrument() {
        return getInt(16);
    }

    public void instrument(int value) {
        setInt(16, value);
    }
}
