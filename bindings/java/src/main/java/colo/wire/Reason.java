// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Why an order was rejected or cancelled. */
public enum Reason {
    /** Nothing to explain. */
    NONE("none"),
    /** Its owner asked for it. */
    REQUESTED("requested"),
    /** The instrument is not listed. */
    UNKNOWN_INSTRUMENT("unknown-instrument"),
    /** The price is no multiple of the tick. */
    OFF_TICK("off-tick"),
    /** The price lies outside the allowed band. */
    PRICE_BAND("price-band"),
    /** The quantity is not positive, not a multiple of the lot, or over the limit for one order. */
    QUANTITY("quantity"),
    /** The strategy has too many working orders. */
    WORKING_ORDERS("working-orders"),
    /** The order could take the strategy's position over its limit. */
    POSITION_LIMIT("position-limit"),
    /** Immediate-or-cancel, or market: the book had no more to give. */
    NO_LIQUIDITY("no-liquidity"),
    /** Fill-or-kill could not be filled whole. */
    NOT_FILLABLE("not-fillable"),
    /** Post-only would have traded at once. */
    WOULD_TRADE("would-trade"),
    /** No such order, or no longer. */
    UNKNOWN_ORDER("unknown-order"),
    /** The order belongs to another strategy. */
    NOT_YOURS("not-yours"),
    /** The id was used before. */
    DUPLICATE_ORDER("duplicate-order"),
    /** The strategy has stopped or died. */
    STRATEGY_GONE("strategy-gone"),
    /** The market is not open for this. */
    MARKET_CLOSED("market-closed"),
    /** The bytes are no valid order. */
    MALFORMED("malformed"),
    /** The gateway is too far behind to take more. */
    OVERLOAD("overload"),
    /** The market is in a call auction, in which orders of strategies take no part. */
    CALL_AUCTION("call-auction"),
    /** The strategy may not trade for this account. */
    UNKNOWN_ACCOUNT("unknown-account"),
    /** It would have traded with an order of the same owner. */
    SELF_TRADE("self-trade"),
    /** Its time is over: the market has closed, its auction has ended, or its date has come. */
    EXPIRED("expired"),
    /** This market does not know such orders. */
    UNSUPPORTED("unsupported"),
    /** What would be said of it could not be put on disk: a recorder's disk takes nothing, or the recorder is gone for good. */
    NOT_DURABLE("not-durable"),
    /** The account has not enough money or margin for it. */
    INSUFFICIENT_FUNDS("insufficient-funds"),
    /** What positions and working orders are worth could grow over a limit. */
    NOTIONAL_LIMIT("notional-limit"),
    /** The order is worth more than one order may be. */
    ORDER_NOTIONAL("order-notional"),
    /** Too many orders in a short time. */
    ORDER_RATE("order-rate"),
    /** Too many requests in a short time. */
    MESSAGE_RATE("message-rate"),
    /** It would sell what is not held, and may not. */
    SHORT_SALE("short-sale"),
    /** The instrument takes no orders now. */
    NOT_TRADABLE("not-tradable"),
    /** The account is frozen. */
    ACCOUNT_FROZEN("account-frozen"),
    /** The account is closed. */
    ACCOUNT_CLOSED("account-closed"),
    /** The kill switch of the account, its group, the strategy or the platform has fallen. */
    KILLED("killed"),
    /** It would close more than there is to close. */
    NOT_CLOSABLE("not-closable"),
    /** A market order, and no price is known beyond which it cannot trade. */
    NO_WORST_PRICE("no-worst-price"),
    /** Margin is too large a part of what the account is worth: positions are closed by force. */
    FORCED_LIQUIDATION("forced-liquidation"),
    ;

    private static final Reason[] ALL = values();
    private final String text;

    Reason(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static Reason of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
