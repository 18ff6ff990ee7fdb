package colo.strategy;

import colo.journal.Frame;
import colo.journal.Frames;
import colo.node.Counter;
import colo.node.Log;
import colo.wire.Fill;
import colo.wire.Instrument;
import colo.wire.Message;
import colo.wire.Messages;
import colo.wire.OrderUpdate;
import java.util.ArrayList;
import java.util.List;

/** Runs a strategy without a platform: it is fed by hand, and its requests are caught. */
public final class Harness implements Port {
    /** What the strategy sent, oldest first, if {@link #keeps}. */
    public final List<Message> requests = new ArrayList<>();
    public final List<String> logged = new ArrayList<>();
    public final long[] counters = new long[64];
    public long time = 1_000_000_000L;
    /** td is behind. */
    public boolean isFull;
    /** Requests are kept; else they are only counted. */
    public boolean keeps = true;
    private final Session session;
    private final Frame frame = new Frame();
    private long position = 64;

    /** With a strategy that has seat 1 and reads all instruments. */
    public Harness(Strategy strategy, String data, Instrument... instruments) {
        Context context = new Context("test", 1, 1, new int[0], data, false, new Instruments(List.of(), -1), this);
        session = new Session(strategy, context, 1, false);
        for (Instrument instrument : instruments) {
            session.onListing(instrument);
        }
        session.completeList();
        session.turn();
    }

    public Context context() {
        return session.context;
    }

    /** Hands over a message of the market, or a report. */
    public void feed(Message message, int topic) {
        position += 64;
        Frames.fill(frame, position, time, message.messageId(), topic, message.bytes(), message.size());
        boolean isReport = message instanceof Fill || message instanceof OrderUpdate;
        Session.Role role = isReport ? Session.Role.REPORTS : message instanceof Instrument ? Session.Role.INSTRUMENTS : session.hears;
        session.frame(role, 1, frame, time);
    }

    /** Lets time pass, and fires what is due. */
    public void advance(long nanos) {
        time += nanos;
        session.turn();
    }

    public void stop() {
        session.stop();
    }

    @Override
    public long now() {
        return time;
    }

    @Override
    public boolean send(Message request, int tallyClass) {
        if (isFull) {
            return false;
        }
        if (keeps) {
            Message kept = Messages.create(request.messageId());
            kept.copy(request);
            requests.add(kept);
        }
        return true;
    }

    @Override
    public boolean depth(int instrument, byte[] to, int length) {
        return false;
    }

    @Override
    public boolean account(long slot, byte[] to, int length) {
        return false;
    }

    @Override
    public boolean keepsAccounts() {
        return false;
    }

    @Override
    public void askState() {}

    @Override
    public void settleState() {}

    @Override
    public void count(Counter counter, long amount) {
        counters[counter.number()] += amount;
    }

    @Override
    public void log(Log level, String text) {
        logged.add(text);
    }
}
