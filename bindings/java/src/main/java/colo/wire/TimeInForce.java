// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** How long an order lives. */
public enum TimeInForce {
    /** Rests until cancelled. */
    DAY("day"),
    /** Trades what it can at once; the rest is cancelled. */
    IOC("ioc"),
    /** Trades in full at once, or not at all. */
    FOK("fok"),
    /** Rests, and is rejected if any of it would trade at once. */
    POST_ONLY("post-only"),
    /** Rests until cancelled, also over the end of a day. */
    GTC("gtc"),
    /** Rests until cancelled, or its date. */
    GTD("gtd"),
    /** Takes part in the opening auction only. */
    AT_THE_OPEN("at-the-open"),
    /** Takes part in the closing auction only. */
    AT_THE_CLOSE("at-the-close"),
    ;

    private static final TimeInForce[] ALL = values();
    private final String text;

    TimeInForce(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static TimeInForce of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
