// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** A charge on fills. For a fill the most specific rule of a number holds among those that are for such fills: of the account, its parent, everybody; among these of the instrument, the longest prefix, everything. A rule takes the place of those of the same number, account and instruments that are for some of the same fills. */
public final class FeeRule extends Message {
    public static final int ID = 63;
    public static final int SIZE = 184;
    /** Only while the order rested. */
    public static final int MAKER = 1;
    /** Only while the order came in. */
    public static final int TAKER = 2;

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
        return ChargeKind.of(getByte(34)) != null
            && FeeSide.of(getByte(35)) != null
            && FeeEvent.of(getByte(36)) != null;
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

    /** Which charge: of its rules one holds for a fill. */
    public int charge() {
        return getShort(32) & 0xffff;
    }

    public void charge(int value) {
        setShort(32, (short) value);
    }

    /** Who gets it. */
    public ChargeKind kind() {
        return ChargeKind.of(getByte(34));
    }

    public void kind(ChargeKind value) {
        setByte(34, value.value());
    }

    /** For purchases, sales, or both. */
    public FeeSide side() {
        return FeeSide.of(getByte(35));
    }

    public void side(FeeSide value) {
        setByte(35, value.value());
    }

    /** For opening, closing, or all. */
    public FeeEvent event() {
        return FeeEvent.of(getByte(36));
    }

    public void event(FeeEvent value) {
        setByte(36, value.value());
    }

    /** For orders that rested, or that came in; none of the two: for both. */
    public int flags() {
        return getByte(37) & 0xff;
    }

    public void flags(int value) {
        setByte(37, (byte) value);
    }

    /** What it is rounded up to, in 1e-9 of the currency; zero: 1e-9. */
    public long unit() {
        return getLong(40);
    }

    public void unit(long value) {
        setLong(40, value);
    }

    /** Part of what the fills are worth, in 1e-9. */
    public long rate() {
        return getLong(48);
    }

    public void rate(long value) {
        setLong(48, value);
    }

    /** For each share, lot or contract. */
    public long perLotLow() {
        return getLong(56);
    }

    /** The upper half. */
    public long perLotHigh() {
        return getLong(64);
    }

    public void perLot(long low, long high) {
        setLong(56, low);
        setLong(64, high);
    }

    /** Least that an order pays once it has traded so. */
    public long minimumLow() {
        return getLong(72);
    }

    /** The upper half. */
    public long minimumHigh() {
        return getLong(80);
    }

    public void minimum(long low, long high) {
        setLong(72, low);
        setLong(80, high);
    }

    /** Who does it. */
    public String who() {
        return getText(88, 32);
    }

    public void who(String value) {
        setText(88, 32, value);
    }

    /** For which reason. */
    public String why() {
        return getText(120, 64);
    }

    public void why(String value) {
        setText(120, 64, value);
    }
}
