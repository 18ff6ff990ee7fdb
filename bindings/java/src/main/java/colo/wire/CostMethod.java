// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Which cost leaves when part of a position is closed. */
public enum CostMethod {
    /** The average of what is open on that side. */
    AVERAGE("average"),
    /** That of the oldest. */
    FIFO("fifo"),
    /** The average of that day; settlement sets it to the settlement price. */
    SETTLEMENT("settlement"),
    ;

    private static final CostMethod[] ALL = values();
    private final String text;

    CostMethod(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static CostMethod of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
