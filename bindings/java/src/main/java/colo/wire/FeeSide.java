// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Which fills a charge is made for. */
public enum FeeSide {
    /** All. */
    BOTH("both"),
    /** Purchases. */
    BUY("buy"),
    /** Sales. */
    SELL("sell"),
    ;

    private static final FeeSide[] ALL = values();
    private final String text;

    FeeSide(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static FeeSide of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
