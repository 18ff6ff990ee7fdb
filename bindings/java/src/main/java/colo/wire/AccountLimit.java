// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** A limit is set or lifted, or a check switched. */
public final class AccountLimit extends Message {
    public static final int ID = 62;
    public static final int SIZE = 136;

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
        return AccountScope.of(getByte(4)) != null
            && LimitKind.of(getByte(5)) != null
            && LimitChange.of(getByte(6)) != null;
    }

    /** Number of the account, group or strategy; zero for the platform. */
    public int subject() {
        return getInt(0);
    }

    public void subject(int value) {
        setInt(0, value);
    }

    /** What the number is of. */
    public AccountScope scope() {
        return AccountScope.of(getByte(4));
    }

    public void scope(AccountScope value) {
        setByte(4, value.value());
    }

    /** What is limited. */
    public LimitKind limit() {
        return LimitKind.of(getByte(5));
    }

    public void limit(LimitKind value) {
        setByte(5, value.value());
    }

    /** What is done. */
    public LimitChange change() {
        return LimitChange.of(getByte(6));
    }

    public void change(LimitChange value) {
        setByte(6, value.value());
    }

    /** Only in this instrument, of position limits; zero: in each. */
    public int instrument() {
        return getInt(8);
    }

    public void instrument(int value) {
        setInt(8, value);
    }

    /** How many may come at once, of rates. */
    public int burst() {
        return getInt(12);
    }

    public void burst(int value) {
        setInt(12, value);
    }

    /** The limit, where it is no money. */
    public long number() {
        return getLong(16);
    }

    public void number(long value) {
        setLong(16, value);
    }

    /** The limit, where it is money. */
    public long amountLow() {
        return getLong(24);
    }

    /** The upper half. */
    public long amountHigh() {
        return getLong(32);
    }

    public void amount(long low, long high) {
        setLong(24, low);
        setLong(32, high);
    }

    /** Who does it. */
    public String who() {
        return getText(40, 32);
    }

    public void who(String value) {
        setText(40, 32, value);
    }

    /** For which reason. */
    public String why() {
        return getText(72, 64);
    }

    public void why(String value) {
        setText(72, 64, value);
    }
}
