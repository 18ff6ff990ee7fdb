package taker;

import colo.strategy.Context;
import colo.strategy.Parameters;
import colo.strategy.Strategies;
import colo.strategy.Strategy;
import colo.wire.Best;
import colo.wire.Instrument;
import colo.wire.Message;
import colo.wire.Quote;
import colo.wire.Side;

/**
 * The smallest strategy that trades: at quotes of its instruments it sends an immediate-or-cancel order at the best price of the
 * other side, buying and selling in turn, and never beyond its position limit.
 */
public final class Taker implements Strategy {
    private final long lots;
    private final long every;
    private final long maxPosition;
    private final boolean[] sells = new boolean[Message.MAX_INSTRUMENTS];
    private long quotes;

    public Taker(Parameters parameters) {
        lots = parameters.atLeast(1, "quantity", 1);
        every = parameters.atLeast(1, "every", 1);
        maxPosition = parameters.atLeast(1, "max_position", 10);
    }

    @Override
    public void quote(Context context, Quote quote) {
        answer(context, quote.instrument(), quote.bidsPrice(0), quote.asksPrice(0));
    }

    @Override
    public void best(Context context, int instrument, Best best) {
        answer(context, instrument, best.bid(), best.ask());
    }

    private void answer(Context context, int id, long bid, long ask) {
        quotes++;
        Instrument instrument = context.instrument(id);
        if (quotes % every != 0 || instrument == null) {
            return;
        }
        long lot = Math.max(1, instrument.lot());
        Side side = sells[id] ? Side.SELL : Side.BUY;
        if (!hasRoom(context, id, side, lot)) {
            side = side == Side.BUY ? Side.SELL : Side.BUY;
            if (!hasRoom(context, id, side, lot)) {
                return;
            }
        }
        long price = side == Side.BUY ? ask : bid;
        if (price == Message.NO_PRICE) {
            return;
        }
        if (context.order(context.limit(side, id, price, lots * lot).immediateOrCancel()) == 0) {
            context.log("no order: %s", context.refusal());
            return;
        }
        sells[id] = side == Side.BUY;
    }

    /** What works may still trade: it counts as traded. */
    private boolean hasRoom(Context context, int id, Side side, long lot) {
        long held = context.position(id).quantity() * (side == Side.BUY ? 1 : -1);
        return held + context.workingQuantity(id, side) + lots * lot <= maxPosition * lot;
    }

    public static void main(String[] arguments) {
        Strategies.main(arguments, Taker::new);
    }
}
