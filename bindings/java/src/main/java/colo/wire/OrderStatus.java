// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Where an order stands. `Rejected`, `Cancelled` and `Filled` are final. */
public enum OrderStatus {
    /** In the book (or about to trade). */
    ACCEPTED("accepted"),
    /** Some of it has traded. */
    PARTIALLY_FILLED("partially-filled"),
    /** All of it has traded. */
    FILLED("filled"),
    /** Ended before it was filled in full; `Reason` says why. */
    CANCELLED("cancelled"),
    /** Not accepted; `Reason` says why. */
    REJECTED("rejected"),
    /** Price or quantity changed as asked. */
    REPLACED("replaced"),
    /** A cancel was refused; the order, if there is one, stands as it was. */
    CANCEL_REJECTED("cancel-rejected"),
    /** A replace was refused; the order, if there is one, stands as it was. */
    REPLACE_REJECTED("replace-rejected"),
    /** Self-trade prevention took part of it away, without a trade; it goes on with what is left. */
    REDUCED("reduced"),
    /** A stop was triggered: from now on it is like an order that has just come in. */
    TRIGGERED("triggered"),
    /** A mass cancel was carried out. The order id is that of the request, `quantity` is how many orders it cancelled, and `remaining` how many it left because their market takes no cancels now. */
    MASS_CANCELLED("mass-cancelled"),
    ;

    private static final OrderStatus[] ALL = values();
    private final String text;

    OrderStatus(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static OrderStatus of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
