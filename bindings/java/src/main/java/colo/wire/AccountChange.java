// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Something happens to accounts. */
public final class AccountChange extends Message {
    public static final int ID = 61;
    public static final int SIZE = 128;

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
            && AccountAction.of(getByte(5)) != null;
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

    /** What happens. */
    public AccountAction action() {
        return AccountAction.of(getByte(5));
    }

    public void action(AccountAction value) {
        setByte(5, value.value());
    }

    /** How much; of money that comes in or goes out, otherwise zero. */
    public long amountLow() {
        return getLong(8);
    }

    /** The upper half. */
    public long amountHigh() {
        return getLong(16);
    }

    public void amount(long low, long high) {
        setLong(8, low);
        setLong(16, high);
    }

    /** In which currency; otherwise empty. */
    public String currency() {
        return getText(24, 8);
    }

    public void currency(String value) {
        setText(24, 8, value);
    }

    /** Who does it. */
    public String who() {
        return getText(32, 32);
    }

    public void who(String value) {
        setText(32, 32, value);
    }

    /** For which reason. */
    public String why() {
        return getText(64, 64);
    }

    public void why(String value) {
        setText(64, 64, value);
    }
}
