// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What happens to an account. */
public enum AccountAction {
    /** Money comes in. */
    DEPOSIT("deposit"),
    /** Money goes out. */
    WITHDRAW("withdraw"),
    /** No new orders and no withdrawals. */
    FREEZE("freeze"),
    /** Ends a freeze. */
    UNFREEZE("unfreeze"),
    /** The end of an account that is empty. */
    CLOSE("close"),
    /** No new orders, and everything that works is cancelled. */
    KILL("kill"),
    /** Ends a kill. */
    REVIVE("revive"),
    ;

    private static final AccountAction[] ALL = values();
    private final String text;

    AccountAction(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static AccountAction of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
