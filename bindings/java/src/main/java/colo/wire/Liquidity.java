// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Whether a fill gave or took liquidity. */
public enum Liquidity {
    /** The order rested. */
    MAKER("maker"),
    /** The order came in. */
    TAKER("taker"),
    ;

    private static final Liquidity[] ALL = values();
    private final String text;

    Liquidity(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static Liquidity of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
