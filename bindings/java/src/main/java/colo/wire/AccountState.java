// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** How an account stands, in its own currency. One slot of `ledger.accounts`, by the order of opening. */
public final class AccountState extends Message {
    public static final int ID = 71;
    public static final int SIZE = 136;
    /** No new orders, no withdrawals. */
    public static final int FROZEN = 1;
    /** It has ended. */
    public static final int CLOSED = 2;
    /** A kill switch has fallen: its own, its group's or the platform's. */
    public static final int KILLED = 4;

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
        return AccountKind.of(getByte(10)) != null;
    }

    /** Which account. */
    public int account() {
        return getInt(0);
    }

    public void account(int value) {
        setInt(0, value);
    }

    /** Orders at work. */
    public int openOrders() {
        return getInt(4);
    }

    public void openOrders(int value) {
        setInt(4, value);
    }

    /** Whose own account it is; `u16.MAX`: nobody's. */
    public int owner() {
        return getShort(8) & 0xffff;
    }

    public void owner(int value) {
        setShort(8, (short) value);
    }

    /** By which rules it trades. */
    public AccountKind kind() {
        return AccountKind.of(getByte(10));
    }

    public void kind(AccountKind value) {
        setByte(10, value.value());
    }

    /** What is true of it. */
    public int flags() {
        return getByte(11) & 0xff;
    }

    public void flags(int value) {
        setByte(11, (byte) value);
    }

    /** Its currency. */
    public String currency() {
        return getText(16, 8);
    }

    public void currency(String value) {
        setText(16, 8, value);
    }

    /** Position in the drop copy before which everything is contained. */
    public long drops() {
        return getLong(24);
    }

    public void drops(long value) {
        setLong(24, value);
    }

    /** Margin as a part of equity, in 1e-9; the largest number where there is margin and no equity. */
    public long riskRatio() {
        return getLong(32);
    }

    public void riskRatio(long value) {
        setLong(32, value);
    }

    /** The money that is there, of all currencies. */
    public long balanceLow() {
        return getLong(40);
    }

    /** The upper half. */
    public long balanceHigh() {
        return getLong(48);
    }

    public void balance(long low, long high) {
        setLong(40, low);
        setLong(48, high);
    }

    /** What it is worth. */
    public long equityLow() {
        return getLong(56);
    }

    /** The upper half. */
    public long equityHigh() {
        return getLong(64);
    }

    public void equity(long low, long high) {
        setLong(56, low);
        setLong(64, high);
    }

    /** What new orders and withdrawals may use. */
    public long availableLow() {
        return getLong(72);
    }

    /** The upper half. */
    public long availableHigh() {
        return getLong(80);
    }

    public void available(long low, long high) {
        setLong(72, low);
        setLong(80, high);
    }

    /** What orders at work hold back. */
    public long frozenLow() {
        return getLong(88);
    }

    /** The upper half. */
    public long frozenHigh() {
        return getLong(96);
    }

    public void frozen(long low, long high) {
        setLong(88, low);
        setLong(96, high);
    }

    /** Margin of its positions. */
    public long marginLow() {
        return getLong(104);
    }

    /** The upper half. */
    public long marginHigh() {
        return getLong(112);
    }

    public void margin(long low, long high) {
        setLong(104, low);
        setLong(112, high);
    }

    /** Profit and loss since the begin of the day. */
    public long dayResultLow() {
        return getLong(120);
    }

    /** The upper half. */
    public long dayResultHigh() {
        return getLong(128);
    }

    public void dayResult(long low, long high) {
        setLong(120, low);
        setLong(128, high);
    }
}
