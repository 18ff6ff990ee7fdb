package colo.strategy;

import colo.wire.Side;

/** An order from its sending to its end, as of the reports so far. Used again for another one after its end. */
public final class WorkingOrder {
    long id;
    int instrument;
    Side side;
    long price;
    long quantity;
    long filled;
    long sent;
    boolean accepted;
    boolean cancelling;
    int replacing;

    WorkingOrder set(long id, int instrument, Side side, long price, long quantity, long filled, long sent, boolean accepted) {
        this.id = id;
        this.instrument = instrument;
        this.side = side;
        this.price = price;
        this.quantity = quantity;
        this.filled = filled;
        this.sent = sent;
        this.accepted = accepted;
        cancelling = false;
        replacing = 0;
        return this;
    }

    public long id() {
        return id;
    }

    public int instrument() {
        return instrument;
    }

    public Side side() {
        return side;
    }

    public long price() {
        return price;
    }

    public long quantity() {
        return quantity;
    }

    public long filled() {
        return filled;
    }

    /** When it was sent, on the strategy's clock. */
    public long sent() {
        return sent;
    }

    /** True once the market has it. */
    public boolean isAccepted() {
        return accepted;
    }

    /** True while a cancel or a replace is on its way. */
    public boolean isChanging() {
        return cancelling || replacing > 0;
    }

    /** How much of it may still trade. */
    public long remaining() {
        return Math.max(0, quantity - filled);
    }
}
