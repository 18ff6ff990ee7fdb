// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** By which rules an account trades. */
public enum AccountKind {
    /** Pays for what it buys, and sells only what it holds. */
    CASH("cash"),
    /** Long or short in an instrument; margin is frozen, profit and loss is paid when a position is closed. */
    MARGIN("margin"),
    /** Long and short apart, today's and yesterday's apart; margin is frozen, variation is paid at settlement. */
    FUTURES("futures"),
    ;

    private static final AccountKind[] ALL = values();
    private final String text;

    AccountKind(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static AccountKind of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
