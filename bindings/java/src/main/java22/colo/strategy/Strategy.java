package colo.strategy;

import colo.wire.Best;
import colo.wire.BookEvent;
import colo.wire.Fill;
import colo.wire.Indicative;
import colo.wire.Instrument;
import colo.wire.MarketPhase;
import colo.wire.OrderUpdate;
import colo.wire.Quote;
import colo.wire.TradePrint;

/**
 * A strategy of an author: the same calls as in Rust. All come on one thread, one after the other. Messages are views that hold
 * up to the end of the call.
 *
 * <pre>
 * (instruments and, from the ledger, positions and working orders arrive) ─► start ─► instrument*
 *       ─► { quote | best | bookEvent | trade | order | fill | timer | gap | instrument }* ─► stop
 * </pre>
 */
public interface Strategy {
    /** Once, first: positions and working orders are those of the ledger. Orders may be sent from here on. */
    default void start(Context context) {}

    /** An instrument that it reads is listed: once for each, before its first quote. */
    default void instrument(Context context, Instrument instrument) {}

    /** The book changed, in a group with data = "depth". */
    default void quote(Context context, Quote quote) {}

    /** The best bid or ask changed, in a group with data = "best". */
    default void best(Context context, int instrument, Best best) {}

    /** An event of the order flow, in a group with data = "flow". */
    default void bookEvent(Context context, BookEvent event) {}

    /** An instrument's phase changed, in a group with data = "flow". */
    default void phase(Context context, MarketPhase phase) {}

    /** What an auction would trade now, in a group with data = "flow". */
    default void indicative(Context context, Indicative indicative) {}

    /** The market traded. */
    default void trade(Context context, TradePrint trade) {}

    /** One of its orders changed its state, or a request about one was refused. */
    default void order(Context context, OrderUpdate update) {}

    /** Part of one of its orders traded. A call of {@link #order} about where the order stands follows. */
    default void fill(Context context, Fill fill) {}

    /** A timer that it set is due. */
    default void timer(Context context, long timer, long key, long due) {}

    /** It was too slow for the market data, and lost so many bytes of it. */
    default void gap(Context context, long bytes) {}

    /** Once, at the end. What works afterwards is cancelled. */
    default void stop(Context context) {}

    /** The symbols that it reads, if it overrides the platform file; null: it does not. */
    default java.util.List<String> symbols() {
        return null;
    }
}
