// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** How an order's price is meant. */
public enum OrderType {
    /** Trades at its price or better. */
    LIMIT("limit"),
    /** Trades at whatever rests; what finds nothing is cancelled. */
    MARKET("market"),
    /** Waits until a trade reaches its trigger, then is a market order. */
    STOP("stop"),
    /** Waits until a trade reaches its trigger, then is a limit order. */
    STOP_LIMIT("stop-limit"),
    ;

    private static final OrderType[] ALL = values();
    private final String text;

    OrderType(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static OrderType of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
