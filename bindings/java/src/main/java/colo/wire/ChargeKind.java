// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Who gets a charge. */
public enum ChargeKind {
    /** Broker or exchange. */
    FEE("fee"),
    /** The state. */
    TAX("tax"),
    ;

    private static final ChargeKind[] ALL = values();
    private final String text;

    ChargeKind(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static ChargeKind of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
