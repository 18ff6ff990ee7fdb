// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What is limited. */
public enum LimitKind {
    /** The position in an instrument if everything that works on one side fills: `number`. */
    POSITION("position"),
    /** What all positions and working orders are worth together: `amount`. */
    GROSS_NOTIONAL("gross-notional"),
    /** The quantity of one order: `number`. */
    ORDER_QUANTITY("order-quantity"),
    /** What one order is worth: `amount`. */
    ORDER_NOTIONAL("order-notional"),
    /** New orders a second: `number`, of which `burst` may come at once. */
    ORDER_RATE("order-rate"),
    /** Requests of all kinds a second: `number`, of which `burst` may come at once. */
    MESSAGE_RATE("message-rate"),
    /** Orders that work at once: `number`. */
    OPEN_ORDERS("open-orders"),
    /** What may be lost in a day: `amount`. Past it, the kill switch falls. */
    LOSS("loss"),
    /** Refused orders a second: `number`, of which `burst` may come at once. Past it, the kill switch falls. */
    REJECT_RATE("reject-rate"),
    /** New orders a second: `number`, of which `burst` may come at once. Past it, the kill switch falls. */
    RUNAWAY_RATE("runaway-rate"),
    /** Margin as a part of equity, in 1e-9, from which on more money is asked for: `number`. */
    MARGIN_CALL("margin-call"),
    /** Margin as a part of equity, in 1e-9, from which on positions are closed by force: `number`. */
    FORCED_LIQUIDATION("forced-liquidation"),
    /** No limit of its own: the check of money and margin. */
    MONEY("money"),
    /** No limit of its own: the check of the price band. */
    PRICE_BAND("price-band"),
    /** No limit of its own: the check of self-trades. */
    SELF_TRADE("self-trade"),
    /** No limit of its own: the check of short sales. */
    SHORT_SALE("short-sale"),
    ;

    private static final LimitKind[] ALL = values();
    private final String text;

    LimitKind(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static LimitKind of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
