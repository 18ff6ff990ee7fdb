package colo.strategy;

import colo.wire.Message;
import colo.wire.OrderType;
import colo.wire.Side;
import colo.wire.TimeInForce;

/** A new order, before it is sent with {@link Context#order}. The context lends the same one again and again. */
public final class OrderRequest {
    private static final long SECOND = 1_000_000_000L;

    Side side;
    int instrument;
    OrderType type;
    TimeInForce time;
    long price;
    long quantity;
    boolean hasAccount;
    int account;
    long display;
    long minimum;
    long trigger;
    long ends;
    int flags;

    OrderRequest set(Side side, int instrument, OrderType type, TimeInForce time, long price, long quantity) {
        this.side = side;
        this.instrument = instrument;
        this.type = type;
        this.time = time;
        this.price = price;
        this.quantity = quantity;
        hasAccount = false;
        account = 0;
        display = 0;
        minimum = 0;
        trigger = Message.NO_PRICE;
        ends = 0;
        flags = 0;
        return this;
    }

    private OrderRequest in(TimeInForce time) {
        this.time = time;
        return this;
    }

    /** Trades what it can at once; the rest is cancelled. */
    public OrderRequest immediateOrCancel() {
        return in(TimeInForce.IOC);
    }

    /** Trades in full at once, or not at all. */
    public OrderRequest fillOrKill() {
        return in(TimeInForce.FOK);
    }

    /** Rests, and is rejected if any of it would trade at once. */
    public OrderRequest postOnly() {
        return in(TimeInForce.POST_ONLY);
    }

    /** Rests also over the end of a day. This and what follows is for fill = "exchange". */
    public OrderRequest goodTillCancel() {
        return in(TimeInForce.GTC);
    }

    /** Rests until a time of the market, in whole seconds. */
    public OrderRequest goodTill(long ends) {
        this.ends = ends;
        return in(TimeInForce.GTD);
    }

    public OrderRequest atTheOpen() {
        return in(TimeInForce.AT_THE_OPEN);
    }

    public OrderRequest atTheClose() {
        return in(TimeInForce.AT_THE_CLOSE);
    }

    /** For this account instead of the strategy's default. */
    public OrderRequest account(int account) {
        this.account = account;
        hasAccount = true;
        return this;
    }

    /** Shows only this much at a time, in whole lots. */
    public OrderRequest iceberg(long display) {
        this.display = display;
        return this;
    }

    /** Trades at least this much at once, or nothing; in whole lots. */
    public OrderRequest minimum(long minimum) {
        this.minimum = minimum;
        return this;
    }

    /** Waits until a trade reaches the trigger. */
    public OrderRequest stop(long trigger) {
        this.trigger = trigger;
        if (type == OrderType.MARKET || type == OrderType.STOP) {
            type = OrderType.STOP;
            return in(TimeInForce.DAY);
        }
        type = OrderType.STOP_LIMIT;
        return this;
    }

    /** Adds flags of a NewOrder. */
    public OrderRequest flags(int flags) {
        this.flags |= flags;
        return this;
    }

    boolean hasPrice() {
        return type == OrderType.LIMIT || type == OrderType.STOP_LIMIT;
    }

    boolean hasTrigger() {
        return type == OrderType.STOP || type == OrderType.STOP_LIMIT;
    }

    /** What is wrong with it; null: nothing. */
    Refusal wrong(long lot) {
        if (side == null) {
            return Refusal.SIDE;
        }
        if (quantity <= 0) {
            return Refusal.QUANTITY;
        }
        if (hasPrice() && price == Message.NO_PRICE) {
            return Refusal.NO_PRICE;
        }
        if (!isPart(display, lot) || !isPart(minimum, lot)) {
            return Refusal.PART;
        }
        if (hasTrigger() && trigger == Message.NO_PRICE) {
            return Refusal.NO_TRIGGER;
        }
        if (time == TimeInForce.GTD && (ends <= 0 || ends % SECOND != 0 || ends / SECOND > 0xffff_ffffL)) {
            return Refusal.DATE;
        }
        return !hasPrice() && time == TimeInForce.POST_ONLY ? Refusal.MARKET_CANNOT_REST : null;
    }

    private boolean isPart(long part, long lot) {
        return part >= 0 && part <= quantity && part % lot == 0 && part / lot <= 0xffff_ffffL;
    }
}
