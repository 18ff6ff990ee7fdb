// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What an `AccountLimit` does. */
public enum LimitChange {
    /** Sets the limit. */
    SET("set"),
    /** There is no such limit any more. */
    LIFT("lift"),
    /** The check as a whole is made; only of the whole platform. */
    ENABLE("enable"),
    /** The check as a whole is not made; only of the whole platform. */
    DISABLE("disable"),
    ;

    private static final LimitChange[] ALL = values();
    private final String text;

    LimitChange(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static LimitChange of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
