package colo.strategy;

import colo.node.Counter;
import colo.node.Log;
import colo.wire.AccountState;
import colo.wire.Best;
import colo.wire.CancelAll;
import colo.wire.CancelOrder;
import colo.wire.Instrument;
import colo.wire.Message;
import colo.wire.NewOrder;
import colo.wire.OrderType;
import colo.wire.Quote;
import colo.wire.ReplaceOrder;
import colo.wire.Side;
import colo.wire.TimeInForce;

/**
 * The strategy's access to the platform. No method blocks, and in steady state none makes garbage but where it says so. What
 * sends returns 0 or false where nothing was sent: {@link #refusal} says why.
 */
public final class Context {
    enum Stage {
        JOINING,
        OPEN,
        LEFT
    }

    final String name;
    final int strategy;
    final int epoch;
    final int[] accounts;
    final Port port;
    final String data;
    final boolean byEvents;
    final Instruments instruments;
    final WorkingOrders orders = new WorkingOrders();
    final Timers timers = new Timers();
    final Position[] positions = new Position[Message.MAX_INSTRUMENTS];
    final Quote[] quotes = new Quote[Message.MAX_INSTRUMENTS];
    final Best[] bests = new Best[Message.MAX_INSTRUMENTS];
    final boolean[] heard = new boolean[Message.MAX_INSTRUMENTS];
    Stage stage = Stage.JOINING;
    boolean begun;
    boolean stops;
    long eventTime;
    // The message that is being handled.
    long causePosition;
    long causeDue;
    long causePublished;
    long causeReceived;
    int causeJournal;
    private int sent;
    private Refusal refusal;
    private final OrderRequest request = new OrderRequest();
    private final NewOrder order = new NewOrder().allocate();
    private final CancelOrder cancel = new CancelOrder().allocate();
    private final ReplaceOrder replace = new ReplaceOrder().allocate();
    private final CancelAll cancelAll = new CancelAll().allocate();
    private final Best best = new Best().allocate();
    private final Position none = new Position();

    Context(String name, int strategy, long epoch, int[] accounts, String data, boolean byEvents, Instruments instruments, Port port) {
        this.name = name;
        this.strategy = strategy;
        this.epoch = (int) epoch & 0xffff;
        this.accounts = accounts.length == 0 ? new int[] {0} : accounts;
        this.data = data;
        this.byEvents = byEvents;
        this.instruments = instruments;
        this.port = port;
    }

    /** Name of the node. */
    public String name() {
        return name;
    }

    /** Its seat. */
    public int strategy() {
        return strategy;
    }

    /** The time in ns: on a deterministic platform the market's, else the platform's clock. */
    public long now() {
        return byEvents ? eventTime : port.now();
    }

    /** One line in the node's log. Makes garbage. */
    public void log(String format, Object... arguments) {
        port.log(Log.INFO, arguments.length == 0 ? format : String.format(format, arguments));
    }

    /** What is wrong with the platform, or what the strategy missed. */
    void warn(String format, Object... arguments) {
        port.log(Log.WARN, arguments.length == 0 ? format : String.format(format, arguments));
    }

    /** Ends the strategy in good order. */
    public void requestStop() {
        stops = true;
    }

    /** What it hears of the market: "depth", "best" or "flow". */
    public String data() {
        return data;
    }

    public Instruments instruments() {
        return instruments;
    }

    /** A listed instrument; null if it is not. */
    public Instrument instrument(int id) {
        return instruments.get(id);
    }

    /** The latest quote of an instrument that it reads; null before the first. Only with data = "depth". */
    public Quote lastQuote(int id) {
        return data.equals("depth") && id > 0 && id < heard.length && heard[id] ? quotes[id] : null;
    }

    /** The latest best of an instrument; null before the first, and with data = "flow". Holds until the next call. */
    public Best lastBest(int id) {
        Quote quote = lastQuote(id);
        if (quote != null) {
            return bestOf(quote, best);
        }
        return data.equals("best") && id > 0 && id < heard.length && heard[id] ? bests[id] : null;
    }

    static Best bestOf(Quote quote, Best best) {
        best.bid(quote.bidsPrice(0));
        best.ask(quote.asksPrice(0));
        best.bidQuantity((int) Math.max(0, Math.min(quote.bidsQuantity(0), 0xffff_ffffL)));
        best.askQuantity((int) Math.max(0, Math.min(quote.asksQuantity(0), 0xffff_ffffL)));
        best.due(quote.due());
        return best;
    }

    /** Copies the ten best levels: with data = "best" those behind the best that was heard last, or later ones. False: there are none. */
    public boolean depth(int id, Quote to) {
        to.allocateOnce();
        Quote quote = lastQuote(id);
        if (quote != null) {
            to.copy(quote);
            return true;
        }
        if (!data.equals("best")) {
            return false;
        }
        return port.depth(id, to.bytes(), Quote.SIZE) && to.isValid();
    }

    /** The accounts that the platform file lists, the default first. */
    public int[] accounts() {
        return accounts;
    }

    /** How the default account stands, read from shared memory: td decides by what it has then. False: it is not kept or not known. */
    public boolean account(AccountState to) {
        return accountOf(accounts[0], to);
    }

    public boolean accountOf(int account, AccountState to) {
        to.allocateOnce();
        int owner = account == 0 ? strategy : 0xffff;
        for (long slot = 0; port.account(slot, to.bytes(), AccountState.SIZE); slot++) {
            if (to.account() == account && to.owner() == owner) {
                return true;
            }
        }
        return false;
    }

    /** The position in an instrument. */
    public Position position(int id) {
        return id > 0 && id < positions.length && positions[id] != null ? positions[id] : none;
    }

    /** How many orders have not ended. */
    public int workingOrders() {
        return orders.size();
    }

    /** One of them, by ascending id. It holds until the next request or report. */
    public WorkingOrder workingOrderAt(int index) {
        return orders.at(index);
    }

    /** One order; null if it has ended. */
    public WorkingOrder workingOrder(long id) {
        return orders.get(id);
    }

    /** How much of the orders on this side may still trade; 0 without a side. */
    public long workingQuantity(int id, Side side) {
        return orders.quantity(id, side);
    }

    /** A limit order, which rests if need be: to be sent with {@link #order}. */
    public OrderRequest limit(Side side, int instrument, long price, long quantity) {
        return request.set(side, instrument, OrderType.LIMIT, TimeInForce.DAY, price, quantity);
    }

    /** A market order: to be sent with {@link #order}. */
    public OrderRequest market(Side side, int instrument, long quantity) {
        return request.set(side, instrument, OrderType.MARKET, TimeInForce.IOC, Message.NO_PRICE, quantity);
    }

    /** Why the last request was not sent. */
    public Refusal refusal() {
        return refusal;
    }

    private long refuse(Refusal why) {
        refusal = why;
        return 0;
    }

    private long nextId() {
        return (long) strategy << 48 | (long) epoch << 32 | sent + 1 & 0xffff_ffffL;
    }

    /** Sends an order, and returns its id at once: it is on its way to td. 0: nothing was sent. */
    public long order(OrderRequest request) {
        if (stage != Stage.OPEN) {
            return refuse(Refusal.NOT_READY);
        }
        Instrument instrument = instruments.get(request.instrument);
        if (instrument == null) {
            return refuse(Refusal.UNKNOWN_INSTRUMENT);
        }
        long lot = Math.max(1, instrument.lot());
        Refusal wrong = request.wrong(lot);
        if (wrong != null) {
            return refuse(wrong);
        }
        if (sent == -1) {
            return refuse(Refusal.EXHAUSTED);
        }
        long id = nextId();
        order.clear();
        order.orderId(id);
        order.instrument(request.instrument);
        order.side(request.side);
        order.orderType(request.type);
        order.timeInForce(request.time);
        order.flags(request.flags);
        order.price(request.price);
        order.quantity(request.quantity);
        order.causePosition(causePosition);
        order.causeDue(causeDue);
        order.causePublished(causePublished);
        order.causeReceived(causeReceived);
        order.causeJournal(causeJournal);
        order.account(request.hasAccount ? request.account : accounts[0]);
        order.displayLots((int) (request.display / lot));
        order.trigger(request.hasTrigger() ? request.trigger : 0);
        order.minimumLots((int) (request.minimum / lot));
        order.endsS(request.time == TimeInForce.GTD ? (int) (request.ends / 1_000_000_000L) : 0);
        if (!send(order, 0)) {
            return 0;
        }
        sent++;
        port.count(Counter.ORDERS, 1);
        orders.added(orders.insert(id).set(id, request.instrument, request.side, request.price, request.quantity, 0, now(), false));
        return id;
    }

    private boolean send(Message message, int tallyClass) {
        if (port.send(message, tallyClass)) {
            return true;
        }
        port.count(Counter.FULL, 1);
        refusal = Refusal.FULL;
        return false;
    }

    private WorkingOrder changeable(long id) {
        WorkingOrder working = orders.get(id);
        refusal = stage != Stage.OPEN ? Refusal.NOT_READY : Refusal.UNKNOWN_ORDER;
        return stage == Stage.OPEN ? working : null;
    }

    /** Asks for the rest of an order to be taken out of the book. While one cancel of it is on its way, another sends nothing and is fine. */
    public boolean cancel(long id) {
        WorkingOrder working = changeable(id);
        if (working == null || working.cancelling) {
            return working != null;
        }
        cancel.clear();
        cancel.orderId(id);
        cancel.instrument(working.instrument);
        if (!send(cancel, 1)) {
            return false;
        }
        port.count(Counter.CANCELS, 1);
        working.cancelling = true;
        return true;
    }

    /** Cancels all orders that match, with one message: instrument 0, side null, account -1 are any. Returns the id under which it is answered; 0: nothing was sent. */
    public long cancelAll(int instrument, Side side, int account) {
        if (stage != Stage.OPEN) {
            return refuse(Refusal.NOT_READY);
        }
        if (instrument != 0 && instruments.get(instrument) == null) {
            return refuse(Refusal.UNKNOWN_INSTRUMENT);
        }
        if (sent == -1) {
            return refuse(Refusal.EXHAUSTED);
        }
        long id = nextId();
        cancelAll.clear();
        cancelAll.orderId(id);
        cancelAll.instrument(instrument);
        cancelAll.side(side == null ? Side.BUY : side);
        cancelAll.account(Math.max(0, account));
        cancelAll.flags((side == null ? 0 : CancelAll.OF_SIDE) | (account < 0 ? 0 : CancelAll.OF_ACCOUNT));
        if (!send(cancelAll, 1)) {
            return 0;
        }
        sent++;
        port.count(Counter.CANCELS, 1);
        return id;
    }

    /** Asks for a new price and a new total quantity, what has traded included. */
    public boolean replace(long id, long price, long quantity) {
        WorkingOrder working = changeable(id);
        if (working == null) {
            return false;
        }
        if (quantity <= 0 || price == Message.NO_PRICE) {
            refusal = quantity <= 0 ? Refusal.QUANTITY : Refusal.NO_PRICE;
            return false;
        }
        replace.clear();
        replace.orderId(id);
        replace.instrument(working.instrument);
        replace.price(price);
        replace.quantity(quantity);
        if (!send(replace, 2)) {
            return false;
        }
        port.count(Counter.REPLACES, 1);
        working.replacing++;
        return true;
    }

    /** Calls timer with the key after so many ns. Once: one that should come again is set again. Returns its number. */
    public long setTimer(long afterNanos, long key) {
        return timers.set(later(now() + Math.max(0, afterNanos)), key, byEvents && !begun);
    }

    /** Calls timer with the key at a time. */
    public long setTimerAt(long time, long key) {
        return timers.set(later(time), key, false);
    }

    /** Time must pass from one timer to the next, or the event behind them is never reached. */
    private long later(long time) {
        return byEvents && begun ? Math.max(time, eventTime + 1) : time;
    }

    /** True when it was still set. */
    public boolean cancelTimer(long timer) {
        return timers.cancel(timer);
    }

    /** Makes room for an instrument, so that its first quote and fill find it. */
    void reach(int id) {
        if (id > 0 && id < positions.length && positions[id] == null) {
            positions[id] = new Position();
            quotes[id] = new Quote().allocate();
            bests[id] = new Best().allocate();
        }
    }

    void setQuote(Quote quote) {
        int id = quote.instrument();
        if (id > 0 && id < quotes.length && quotes[id] != null) {
            quotes[id].copy(quote);
            heard[id] = true;
        }
    }

    void setBest(int id, Best of) {
        if (id > 0 && id < bests.length && bests[id] != null) {
            bests[id].copy(of);
            heard[id] = true;
        }
    }
}
