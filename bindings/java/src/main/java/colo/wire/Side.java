// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Which side of the book. */
public enum Side {
    /** Buys; rests among the bids. */
    BUY("buy"),
    /** Sells; rests among the asks. */
    SELL("sell"),
    ;

    private static final Side[] ALL = values();
    private final String text;

    Side(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static Side of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
