package colo.strategy;

import colo.wire.Fill;
import colo.wire.PositionState;
import colo.wire.Message;
import colo.wire.Side;
import java.math.BigInteger;

/** The strategy's position in one instrument. */
public final class Position {
    private static final BigInteger THOUSAND = BigInteger.valueOf(1_000);

    private long quantity;
    private long bought;
    private long sold;
    private long cashLow;
    private long cashHigh;

    /** Signed: short is negative. */
    public long quantity() {
        return quantity;
    }

    public long bought() {
        return bought;
    }

    public long sold() {
        return sold;
    }

    /** What sales brought less what purchases cost, in millionths of the currency. Not for the path of a message. */
    public long cash() {
        return profit(Message.NO_PRICE);
    }

    /** Profit and loss, if what is open were closed at mark. Not for the path of a message. */
    public long profit(long mark) {
        BigInteger low = new BigInteger(Long.toUnsignedString(cashLow));
        BigInteger wide = BigInteger.valueOf(cashHigh).shiftLeft(64).add(low);
        if (mark != Message.NO_PRICE) {
            wide = wide.add(BigInteger.valueOf(mark).multiply(BigInteger.valueOf(quantity)));
        }
        return wide.divide(THOUSAND).longValue();
    }

    boolean onFill(Fill fill) {
        long amount = fill.quantity();
        if (amount <= 0) {
            return false;
        }
        long signed = fill.side() == Side.BUY ? amount : -amount;
        quantity += signed;
        if (signed > 0) {
            bought += amount;
        } else {
            sold += amount;
        }
        long low = -signed * fill.price();
        long high = Math.multiplyHigh(-signed, fill.price());
        cashLow += low;
        cashHigh += high + (Long.compareUnsigned(cashLow, low) < 0 ? 1 : 0);
        return true;
    }

    void restore(PositionState state) {
        quantity = state.position();
        bought = state.bought();
        sold = state.sold();
        cashLow = state.cashLow();
        cashHigh = state.cashHigh();
    }
}
