package colo.strategy;

/** Why a request was not sent. Refusals by td or the market come later, through {@link Strategy#order}. */
public enum Refusal {
    NOT_READY("the strategy has not started, or has stopped"),
    UNKNOWN_INSTRUMENT("the instrument is not listed; Context.instruments has those that are"),
    UNKNOWN_ORDER("no such order works"),
    SIDE("the order has no side: null is none"),
    QUANTITY("the quantity must be positive"),
    NO_PRICE("a limit order needs a price"),
    PART("displayed and minimum quantity are whole lots, not more than the order"),
    NO_TRIGGER("a stop order needs a trigger"),
    DATE("an order good till a date ends at a whole second from 1970 to 2106"),
    MARKET_CANNOT_REST("a market order cannot be post-only"),
    FULL("the order journal is full, td is behind: try again at a later event"),
    EXHAUSTED("all order numbers of this start are used up: restart the strategy"),
    ;

    private final String text;

    Refusal(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
