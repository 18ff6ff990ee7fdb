package colo.strategy;

import colo.journal.Frame;
import colo.node.Counter;
import colo.wire.Best;
import colo.wire.BookEvent;
import colo.wire.EndOfStream;
import colo.wire.Fill;
import colo.wire.Indicative;
import colo.wire.Instrument;
import colo.wire.MarketPhase;
import colo.wire.MarketTime;
import colo.wire.Message;
import colo.wire.OrderStatus;
import colo.wire.OrderUpdate;
import colo.wire.PositionState;
import colo.wire.Quote;
import colo.wire.SnapshotBegin;
import colo.wire.SnapshotEnd;
import colo.wire.Statistics;
import colo.wire.TradePrint;
import java.util.ArrayList;
import java.util.List;

/** Frames in, calls of the strategy, orders out. It knows no process and no journal. */
final class Session {
    /** What a journal is to a strategy. */
    enum Role {
        NONE,
        INSTRUMENTS,
        QUOTES,
        BEST,
        FLOW,
        REPORTS,
        STATE;

        static Role of(String name) {
            return switch (name) {
                case "instruments" -> INSTRUMENTS;
                case "quotes" -> QUOTES;
                case "best" -> BEST;
                case "flow", "market" -> FLOW;
                case "reports" -> REPORTS;
                case "state" -> STATE;
                default -> NONE;
            };
        }

        boolean isMarket() {
            return this == QUOTES || this == BEST || this == FLOW;
        }
    }

    private static final long SNAPSHOT_TIMEOUT = 2_000_000_000L;

    final Strategy strategy;
    final Context context;
    final Role hears;
    boolean topicsChanged = true;
    boolean isWhole;
    private final long generation;
    private boolean waits;
    private boolean asked;
    private long deadline;
    private long contained;
    // Market data of an instrument that is not listed yet.
    private boolean holds;
    private boolean inVain;
    private int heldInstrument;
    private int heldId;
    private final long[] heldCause = new long[5];
    // The snapshot that is being read; null before its begin.
    private List<Message> snapshot;
    private long snapshotNumber;
    private long snapshotExecution;
    private final Quote quote = new Quote();
    private final Quote copy = new Quote().allocate();
    private final Best best = new Best();
    private final TradePrint trade = new TradePrint();
    private final BookEvent event = new BookEvent();
    private final MarketPhase phase = new MarketPhase();
    private final Indicative indicative = new Indicative();
    private final Fill fill = new Fill();
    private final OrderUpdate update = new OrderUpdate();

    Session(Strategy strategy, Context context, long generation, boolean hasLedger) {
        this.strategy = strategy;
        this.context = context;
        this.generation = generation;
        this.waits = hasLedger;
        this.hears = switch (context.data) {
            case "best" -> Role.BEST;
            case "flow" -> Role.FLOW;
            default -> Role.QUOTES;
        };
    }

    boolean accepts(Role role) {
        if (role.isMarket()) {
            // Frames from before the start are handed over after it, in order.
            return isWhole && !holds && context.stage != Context.Stage.JOINING;
        }
        return role != Role.REPORTS || context.stage != Context.Stage.JOINING;
    }

    boolean isJoining() {
        return context.stage == Context.Stage.JOINING;
    }

    /** When turn has something to do even without a frame; Long.MAX_VALUE: never. */
    long due() {
        if (holds || !isWhole) {
            return 0;
        }
        if (isJoining()) {
            return asked ? deadline : Long.MAX_VALUE;
        }
        return context.stage == Context.Stage.OPEN && !context.byEvents ? context.timers.nextDue() : Long.MAX_VALUE;
    }

    /** All instruments are taken that were listed when the strategy joined. */
    void completeList() {
        if (isWhole) {
            return;
        }
        isWhole = true;
        context.instruments.assign();
        context.instruments.missing().forEach(symbol -> context.warn("instrument `%s` is not listed; it is read once it is", symbol));
    }

    /** Starts the strategy when its state is complete, and fires the timers that are due. */
    void turn() {
        if (holds && inVain) {
            context.warn("market data of instrument %d, which is not listed; passed over", heldInstrument);
            context.port.count(Counter.ANOMALIES, 1);
            holds = false;
        }
        inVain = holds;
        if (isJoining()) {
            if (isReady()) {
                start();
            }
        } else if (!context.byEvents && context.timers.nextDue() != Long.MAX_VALUE) {
            // Only timers that were set before this turn: one that is set again at once must not delay frames.
            long now = context.port.now();
            long limit = context.timers.limit();
            while (context.stage == Context.Stage.OPEN && context.timers.pop(now, limit)) {
                fireTimer();
            }
        }
    }

    private void fireTimer() {
        strategy.timer(context, context.timers.poppedId, context.timers.poppedKey, context.timers.poppedDue);
    }

    private boolean isReady() {
        if (!isWhole || !waits) {
            return isWhole;
        }
        long now = context.port.now();
        if (!asked) {
            asked = true;
            deadline = now + SNAPSHOT_TIMEOUT;
            context.port.askState();
            return false;
        }
        if (now < deadline) {
            return false;
        }
        context.warn("no state from the ledger within 2 s; starts without positions and working orders");
        waits = false;
        context.port.settleState();
        return true;
    }

    private void start() {
        context.stage = Context.Stage.OPEN;
        List<Instrument> selected = context.instruments.selected();
        if (context.data.equals("best")) {
            for (Instrument instrument : selected) {
                if (context.depth(instrument.id(), copy)) {
                    context.setBest(instrument.id(), Context.bestOf(copy, new Best().allocate()));
                }
            }
        }
        strategy.start(context);
        selected.forEach(instrument -> strategy.instrument(context, instrument));
    }

    /** Takes one frame of the journal with this number, which the strategy received at this time. */
    void frame(Role role, int journal, Frame frame, long received) {
        boolean done;
        if (role.isMarket()) {
            done = role != hears || onMarket(frame, journal, received);
        } else {
            done = switch (role) {
                case REPORTS -> onReport(frame, journal, received);
                case INSTRUMENTS -> onInstruments(frame);
                case STATE -> onState(frame);
                default -> true;
            };
        }
        if (!done) {
            context.port.count(Counter.MALFORMED, 1);
            context.warn("journal %d at position %d: no message %d that is known here; passed over", journal, frame.position(), frame.id());
        }
    }

    private void setCause(long position, long due, long published, long received, int journal) {
        context.causePosition = position;
        context.causeDue = due;
        context.causePublished = published;
        context.causeReceived = received;
        context.causeJournal = journal;
    }

    private boolean onMarket(Frame frame, int journal, long received) {
        int instrument;
        long due = 0;
        boolean valid;
        switch (frame.id()) {
            case Quote.ID -> {
                valid = quote.decode(frame.payload(), frame.length());
                instrument = valid ? quote.instrument() : 0;
                due = valid ? quote.due() : 0;
            }
            case Best.ID -> {
                valid = best.decode(frame.payload(), frame.length());
                instrument = frame.topic();
                due = valid ? best.due() : 0;
            }
            case TradePrint.ID -> {
                valid = trade.decode(frame.payload(), frame.length());
                instrument = valid ? trade.instrument() : 0;
                due = valid ? trade.due() : 0;
            }
            case BookEvent.ID -> {
                valid = event.decode(frame.payload(), frame.length());
                instrument = valid ? event.instrument() : 0;
            }
            case MarketPhase.ID -> {
                valid = phase.decode(frame.payload(), frame.length());
                instrument = valid ? phase.instrument() : 0;
            }
            case Indicative.ID -> {
                valid = indicative.decode(frame.payload(), frame.length());
                instrument = valid ? indicative.instrument() : 0;
            }
            case MarketTime.ID -> {
                // Of no instrument: timers that are due before the next event fire now.
                MarketTime time = new MarketTime();
                valid = time.decode(frame.payload(), frame.length());
                if (valid && context.byEvents) {
                    advanceToTime(time.eventTime());
                }
                return valid;
            }
            case EndOfStream.ID, Statistics.ID -> {
                return true;
            }
            default -> {
                return false;
            }
        }
        if (!valid) {
            return false;
        }
        if (context.instruments.get(instrument) == null) {
            hold(frame.id(), instrument, frame.position(), due, frame.time(), received, journal);
            return true;
        }
        onListed(frame.id(), instrument, frame.position(), due, frame.time(), received, journal);
        return true;
    }

    /** The bytes stay where they are: no more of this journal is read meanwhile. */
    private void hold(int id, int instrument, long position, long due, long published, long received, int journal) {
        holds = true;
        inVain = false;
        heldId = id;
        heldInstrument = instrument;
        heldCause[0] = position;
        heldCause[1] = due;
        heldCause[2] = published;
        heldCause[3] = received;
        heldCause[4] = journal;
    }

    private void onListed(int id, int instrument, long position, long due, long published, long received, int journal) {
        if (!context.instruments.isSelected(instrument)) {
            return;
        }
        if (context.byEvents) {
            advanceTo(id, instrument);
        }
        if (id == Quote.ID) {
            context.setQuote(quote);
        } else if (id == Best.ID) {
            context.setBest(instrument, best);
        }
        if (context.stage != Context.Stage.OPEN) {
            return;
        }
        setCause(position, due, published, received, journal);
        switch (id) {
            case Quote.ID -> {
                context.port.count(Counter.QUOTES, 1);
                strategy.quote(context, quote);
            }
            case Best.ID -> {
                context.port.count(Counter.QUOTES, 1);
                strategy.best(context, instrument, best);
            }
            case TradePrint.ID -> {
                context.port.count(Counter.TRADES, 1);
                strategy.trade(context, trade);
            }
            case BookEvent.ID -> {
                context.port.count(Counter.BOOK_EVENTS, 1);
                strategy.bookEvent(context, event);
            }
            case MarketPhase.ID -> strategy.phase(context, phase);
            default -> strategy.indicative(context, indicative);
        }
        setCause(0, 0, 0, 0, 0);
    }

    /** When the next timer is due by the market's time, where that is the clock; 0: never. */
    long marketDue() {
        boolean goes = context.byEvents && context.begun && context.stage == Context.Stage.OPEN;
        long due = goes ? context.timers.nextDue() : Long.MAX_VALUE;
        return due == Long.MAX_VALUE ? 0 : Math.max(due, 1);
    }

    /** With a clock that goes by events: to the market's time of a message. */
    private void advanceTo(int id, int instrument) {
        long time;
        switch (id) {
            case Quote.ID -> time = quote.eventTime();
            case TradePrint.ID -> time = trade.eventTime();
            case BookEvent.ID -> time = event.eventTime();
            case MarketPhase.ID -> time = phase.eventTime();
            case Indicative.ID -> time = indicative.eventTime();
            default -> {
                // In lock-step the depth behind a best is exactly its quote.
                if (!context.depth(instrument, copy)) {
                    return;
                }
                time = copy.eventTime();
            }
        }
        advanceToTime(time);
    }

    private void advanceToTime(long time) {
        if (!context.begun) {
            context.begun = true;
            context.eventTime = time;
            context.timers.begin(time);
        }
        while (context.stage == Context.Stage.OPEN && context.timers.pop(time, context.timers.limit())) {
            context.eventTime = Math.max(context.eventTime, context.timers.poppedDue);
            fireTimer();
        }
        context.eventTime = Math.max(context.eventTime, time);
    }

    private boolean onInstruments(Frame frame) {
        if (frame.id() == EndOfStream.ID) {
            completeList();
            return true;
        }
        Instrument instrument = new Instrument();
        if (frame.id() != Instrument.ID || !instrument.decode(frame.payload(), frame.length())) {
            return false;
        }
        onListing(instrument);
        return true;
    }

    void onListing(Instrument instrument) {
        int id = instrument.id();
        int listed = context.instruments.list(instrument);
        if (listed < 0) {
            context.port.count(Counter.ANOMALIES, 1);
            return;
        }
        context.reach(id);
        if (listed > 0) {
            topicsChanged = true;
            if (context.stage == Context.Stage.OPEN) {
                strategy.instrument(context, context.instruments.get(id));
            }
        }
        inVain = false;
        if (holds && heldInstrument == id) {
            holds = false;
            onListed(heldId, id, heldCause[0], heldCause[1], heldCause[2], heldCause[3], (int) heldCause[4]);
        }
    }

    private boolean onState(Frame frame) {
        if (!waits || frame.topic() != context.strategy + 1) {
            return true;
        }
        if (frame.id() == SnapshotBegin.ID) {
            SnapshotBegin begin = new SnapshotBegin();
            snapshot = null;
            if (!begin.decode(frame.payload(), frame.length())) {
                return false;
            }
            if (begin.strategy() == context.strategy && begin.generation() == generation) {
                snapshot = new ArrayList<>();
                snapshotNumber = begin.snapshot();
                snapshotExecution = begin.execution();
            }
            return true;
        }
        if (snapshot == null) {
            return true;
        }
        if (frame.id() == SnapshotEnd.ID) {
            SnapshotEnd end = new SnapshotEnd();
            boolean whole = end.decode(frame.payload(), frame.length()) && end.snapshot() == snapshotNumber && end.frames() == snapshot.size();
            if (whole) {
                restore();
            }
            snapshot = null;
            return whole;
        }
        Message message = switch (frame.id()) {
            case PositionState.ID -> new PositionState();
            case OrderUpdate.ID -> new OrderUpdate();
            case Quote.ID -> new Quote();
            default -> null;
        };
        if (message == null || !message.decode(java.util.Arrays.copyOf(frame.payload(), frame.length()), frame.length())) {
            snapshot = null;
            return false;
        }
        snapshot.add(message);
        return true;
    }

    private void restore() {
        waits = false;
        context.port.settleState();
        contained = snapshotExecution;
        long now = context.now();
        for (Message message : snapshot) {
            switch (message) {
                case PositionState state -> {
                    context.reach(state.instrument());
                    context.position(state.instrument()).restore(state);
                }
                case OrderUpdate order -> context.orders.onUpdate(order, now);
                case Quote latest -> {
                    Quote known = context.lastQuote(latest.instrument());
                    if (context.data.equals("depth") && (known == null || known.sequence() < latest.sequence())) {
                        context.reach(latest.instrument());
                        context.setQuote(latest);
                    }
                }
                default -> {
                    // Nothing else is collected.
                }
            }
        }
    }

    private boolean onReport(Frame frame, int journal, long received) {
        if (frame.id() == Fill.ID && fill.decode(frame.payload(), frame.length())) {
            onFill(frame, journal, received);
            return true;
        }
        if (frame.id() == OrderUpdate.ID && update.decode(frame.payload(), frame.length())) {
            onUpdate(frame, journal, received);
            return true;
        }
        return false;
    }

    /** In the snapshot that the strategy started with. 0 is a refusal by td, which no snapshot contains. */
    private boolean isContained(long execution) {
        return execution != 0 && execution < contained;
    }

    private void onFill(Frame frame, int journal, long received) {
        if (isContained(fill.execution())) {
            return;
        }
        int id = fill.instrument();
        context.reach(id);
        if (id <= 0 || id >= Message.MAX_INSTRUMENTS || !context.position(id).onFill(fill)) {
            context.port.count(Counter.ANOMALIES, 1);
            return;
        }
        context.orders.onFill(fill);
        context.port.count(Counter.FILLS, 1);
        if (context.stage == Context.Stage.OPEN) {
            setCause(frame.position(), 0, frame.time(), received, journal);
            strategy.fill(context, fill);
            setCause(0, 0, 0, 0, 0);
        }
    }

    private void onUpdate(Frame frame, int journal, long received) {
        boolean isPredecessors = (int) (update.orderId() >>> 32 & 0xffff) != context.epoch;
        boolean toPredecessor = update.execution() == 0 && isPredecessors && context.orders.get(update.orderId()) == null;
        if (isContained(update.execution()) || toPredecessor) {
            return;
        }
        context.orders.onUpdate(update, context.now());
        OrderStatus status = update.status();
        switch (status) {
            case REJECTED -> context.port.count(Counter.REJECTS, 1);
            case CANCEL_REJECTED -> context.port.count(Counter.CANCEL_REJECTS, 1);
            case REPLACE_REJECTED -> context.port.count(Counter.REPLACE_REJECTS, 1);
            default -> {
                // No refusal.
            }
        }
        if (context.stage == Context.Stage.OPEN) {
            setCause(frame.position(), 0, frame.time(), received, journal);
            strategy.order(context, update);
            setCause(0, 0, 0, 0, 0);
        }
    }

    void gap(Role role, long bytes) {
        if (role.isMarket()) {
            if (context.stage == Context.Stage.OPEN && role == hears) {
                strategy.gap(context, bytes);
            }
        } else if (role == Role.STATE) {
            snapshot = null;
            // What is lost may contain the answer.
            if (waits && asked) {
                context.port.askState();
            }
        } else {
            context.warn("%d bytes of instruments or reports are lost: make that journal larger", bytes);
            context.port.count(Counter.ANOMALIES, 1);
        }
    }

    /** Stops the strategy, then cancels its working orders. */
    void stop() {
        if (context.stage == Context.Stage.OPEN) {
            strategy.stop(context);
            for (int index = 0; index < context.orders.size(); index++) {
                // td cancels what is left here, once the strategy has left.
                context.cancel(context.orders.at(index).id);
            }
        }
        context.stage = Context.Stage.LEFT;
    }
}
