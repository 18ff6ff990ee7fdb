// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What an instrument's market is doing. */
public enum TradingPhase {
    /** Before or after the day. */
    CLOSED("closed"),
    /** Orders are collected for the opening auction; no price is indicated yet. */
    PRE_OPEN("pre-open"),
    /** Orders are collected for the opening auction. */
    OPENING_AUCTION("opening-auction"),
    /** The last part of the opening auction: usually without cancels. */
    OPENING_FREEZE("opening-freeze"),
    /** Between auction and continuous trading, or a break: nothing trades. */
    PAUSE("pause"),
    /** Incoming orders trade with resting ones. */
    CONTINUOUS("continuous"),
    /** Trading is interrupted; nothing trades. */
    HALT("halt"),
    /** Orders are collected for the auction that follows a volatility halt. */
    VOLATILITY_AUCTION("volatility-auction"),
    /** Orders are collected for the closing auction. */
    CLOSING_AUCTION("closing-auction"),
    /** The last part of the closing auction: usually without cancels. */
    CLOSING_FREEZE("closing-freeze"),
    ;

    private static final TradingPhase[] ALL = values();
    private final String text;

    TradingPhase(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static TradingPhase of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
