// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** An account begins. */
public final class AccountOpen extends Message {
    public static final int ID = 60;
    public static final int SIZE = 152;

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
        return AccountKind.of(getByte(12)) != null
            && CostMethod.of(getByte(13)) != null;
    }

    /** Its number; never given out twice. */
    public int account() {
        return getInt(0);
    }

    public void account(int value) {
        setInt(0, value);
    }

    /** Its group; zero: none. */
    public int group() {
        return getInt(4);
    }

    public void group(int value) {
        setInt(4, value);
    }

    /** The account whose rules of fees and margin hold where there are none of its own; zero: none. */
    public int parent() {
        return getInt(8);
    }

    public void parent(int value) {
        setInt(8, value);
    }

    /** By which rules it trades. */
    public AccountKind kind() {
        return AccountKind.of(getByte(12));
    }

    public void kind(AccountKind value) {
        setByte(12, value.value());
    }

    /** Which cost leaves at a close. */
    public CostMethod method() {
        return CostMethod.of(getByte(13));
    }

    public void method(CostMethod value) {
        setByte(13, value.value());
    }

    /** In which money its limits and its equity are counted. */
    public String currency() {
        return getText(16, 8);
    }

    public void currency(String value) {
        setText(16, 8, value);
    }

    /** Its name. */
    public String name() {
        return getText(24, 32);
    }

    public void name(String value) {
        setText(24, 32, value);
    }

    /** Who opens it. */
    public String who() {
        return getText(56, 32);
    }

    public void who(String value) {
        setText(56, 32, value);
    }

    /** For which reason. */
    public String why() {
        return getText(88, 64);
    }

    public void why(String value) {
        setText(88, 64, value);
    }
}
