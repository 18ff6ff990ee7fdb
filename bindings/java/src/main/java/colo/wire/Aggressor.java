// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Who caused a trade in the market. */
public enum Aggressor {
    /** A buy order came in. */
    BUY("buy"),
    /** A sell order came in. */
    SELL("sell"),
    /** An auction, or the source does not say. */
    NONE("none"),
    ;

    private static final Aggressor[] ALL = values();
    private final String text;

    Aggressor(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static Aggressor of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
