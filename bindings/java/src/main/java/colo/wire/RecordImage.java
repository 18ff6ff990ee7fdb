// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** An order in the book beside a recorded or quoted market, the market's or a strategy's, at its place among the records. A link that is the largest number leads nowhere. */
public final class RecordImage extends Message {
    public static final int ID = 56;
    public static final int SIZE = 72;

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
        return Side.of(getByte(68)) != null;
    }

    /** The number of a strategy's order, the market's reference of one of the market. */
    public long reference() {
        return getLong(0);
    }

    public void reference(long value) {
        setLong(0, value);
    }

    /** Its limit price. */
    public long price() {
        return getLong(8);
    }

    public void price(long value) {
        setLong(8, value);
    }

    /** How much of it still works. */
    public long open() {
        return getLong(16);
    }

    public void open(long value) {
        setLong(16, value);
    }

    /** Of a strategy's order: the total ever asked for. Of one that was swept away: how much of it strategies had taken. */
    public long quantity() {
        return getLong(24);
    }

    public void quantity(long value) {
        setLong(24, value);
    }

    /** Of the market's: how much of it strategies took. Of one that was swept away: all that is open. */
    public long taken() {
        return getLong(32);
    }

    public void taken(long value) {
        setLong(32, value);
    }

    /** Its place. */
    public int place() {
        return getInt(40);
    }

    public void place(int value) {
        setInt(40, value);
    }

    /** Who is behind it at its price. */
    public int next() {
        return getInt(44);
    }

    public void next(int value) {
        setInt(44, value);
    }

    /** Who is before it at its price. */
    public int previous() {
        return getInt(48);
    }

    public void previous(int value) {
        setInt(48, value);
    }

    /** The same strategy's next order. */
    public int peerNext() {
        return getInt(52);
    }

    public void peerNext(int value) {
        setInt(52, value);
    }

    /** The same strategy's order before it. */
    public int peerPrevious() {
        return getInt(56);
    }

    public void peerPrevious(int value) {
        setInt(56, value);
    }

    /** For which account, where that matters. */
    public int account() {
        return getInt(60);
    }

    public void account(int value) {
        setInt(60, value);
    }

    /** Its instrument. */
    public int instrument() {
        return getInt(64);
    }

    public void instrument(int value) {
        setInt(64, value);
    }

    /** Its side. */
    public Side side() {
        return Side.of(getByte(68));
    }

    public void side(Side value) {
        setByte(68, value.value());
    }

    /** 0: nothing is at this place; 1: the market's; 2: a strategy's; 3: a strategy's that may not take; 4: the market's, swept away by a clear, at its place for the snapshot that may bring it back; 5 and 6: as 2 and 3, and the order outlives the day. */
    public int ownerKind() {
        return getByte(69) & 0xff;
    }

    public void ownerKind(int value) {
        setByte(69, (byte) value);
    }
}
