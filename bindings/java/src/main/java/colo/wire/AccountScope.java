// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What a change or a limit is of. */
public enum AccountScope {
    /** One account. */
    ACCOUNT("account"),
    /** All accounts of a group. */
    GROUP("group"),
    /** All orders of a strategy, for whichever account. */
    STRATEGY("strategy"),
    /** Everything. */
    PLATFORM("platform"),
    ;

    private static final AccountScope[] ALL = values();
    private final String text;

    AccountScope(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static AccountScope of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
