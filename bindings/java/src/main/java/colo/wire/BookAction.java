// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What an event in the market's order flow does to its book. */
public enum BookAction {
    /** A new resting order, behind all others at its price. */
    ADD("add"),
    /** `quantity` of the order is taken away by its owner; it keeps its place. */
    REDUCE("reduce"),
    /** The order is deleted by its owner. */
    DELETE("delete"),
    /** `quantity` of the resting order traded, at `price`. */
    EXECUTE("execute"),
    /** Price, quantity or both are set anew; the source's rule for the place in the queue is in `flags`. */
    MODIFY("modify"),
    /** A trade that touches no visible order (hidden order, cross, auction against unseen volume). */
    TRADE("trade"),
    /** The book of this instrument is empty from here. */
    CLEAR("clear"),
    ;

    private static final BookAction[] ALL = values();
    private final String text;

    BookAction(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static BookAction of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
