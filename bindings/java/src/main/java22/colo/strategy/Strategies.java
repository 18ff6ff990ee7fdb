package colo.strategy;

import colo.journal.Frame;
import colo.journal.Latest;
import colo.journal.Writer;
import colo.node.Assignment;
import colo.node.Component;
import colo.node.Counter;
import colo.node.ExitException;
import colo.node.Json;
import colo.node.Log;
import colo.node.Node;
import colo.strategy.Session.Role;
import colo.wire.CancelAll;
import colo.wire.CancelOrder;
import colo.wire.Message;
import colo.wire.NewOrder;
import colo.wire.ReplaceOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** From a command line to a running strategy, and its exit code. */
public final class Strategies implements Component, Port {
    private static final String TARGET = "colo.strategy";
    private static final String HELP = """
        A strategy of an author's own, which runs as a node of a colo platform.

          -i, --instance NAME      instance to join; without it, what COLO_INSTANCE says
              --node NAME          node of the platform file to be; without it, what COLO_NODE says
          -n, --instrument SYMBOL  read this instrument, and only those named so; may be repeated
          -p, --param KEY=VALUE    set a parameter, over what the platform file says; VALUE is JSON, or else text; may be repeated

        Exit codes: 0 done, 1 failed, 2 usage, 69 no master, 77 not permitted.
        """;

    private final Node node;
    private final Session session;
    private final Role[] roles;
    private final Writer orders;
    private final int instruments;
    private final long listEnd;
    private final int ledger;
    private final Latest depths;
    private final Latest accounts;
    private final long budget;
    private final boolean deterministic;
    private long overruns;
    private long saidDue;

    /** The whole main of a strategy's program: reads the command line, joins, runs, and ends the process. */
    public static void main(String[] arguments, Function<Parameters, Strategy> create) {
        int code = 0;
        try {
            run(arguments, create);
        } catch (RuntimeException | Error error) {
            code = ExitException.codeOf(error);
            if (error instanceof ExitException || error instanceof colo.journal.JournalException) {
                Log.ERROR.line(TARGET, error.getMessage());
            } else {
                Log.ERROR.line(TARGET, error.toString());
                error.printStackTrace();
            }
        }
        System.out.flush();
        // A signal that came meanwhile must not turn the code into its own.
        Runtime.getRuntime().halt(code);
    }

    /** The same without the end of the process. */
    public static void run(String[] arguments, Function<Parameters, Strategy> create) {
        String instance = System.getenv("COLO_INSTANCE");
        String name = System.getenv("COLO_NODE");
        List<String> symbols = new ArrayList<>();
        Map<String, Object> parameters = new LinkedHashMap<>();
        for (int at = 0; at < arguments.length; at++) {
            if (arguments[at].equals("-h") || arguments[at].equals("--help")) {
                System.out.print(HELP);
                return;
            }
            if (at + 1 == arguments.length) {
                throw usage(arguments[at] + " needs a value; --help says more");
            }
            String value = arguments[++at];
            switch (arguments[at - 1]) {
                case "-i", "--instance" -> instance = value;
                case "--node" -> name = value;
                case "-n", "--instrument" -> symbols.add(value);
                case "-p", "--param" -> parameter(value, parameters);
                default -> throw usage("`" + arguments[at - 1] + "` is not known; --help says what is");
            }
        }
        if (instance == null || name == null) {
            throw usage("which instance and which node? --instance and --node say it, or COLO_INSTANCE and COLO_NODE");
        }
        Node node = Node.join(instance, name);
        Strategies strategies;
        try {
            strategies = new Strategies(node, symbols, parameters, create);
        } catch (RuntimeException | Error error) {
            node.abandon(error);
            throw error;
        }
        node.run(strategies);
    }

    private static ExitException usage(String text) {
        return new ExitException(ExitException.USAGE, text);
    }

    private static void parameter(String text, Map<String, Object> into) {
        int at = text.indexOf('=');
        if (at < 1) {
            throw usage("write KEY=VALUE, as in quantity=5, not `" + text + "`");
        }
        Object value = text.substring(at + 1);
        try {
            value = Json.parse((String) value);
        } catch (IllegalArgumentException error) {
            // A word is text.
        }
        into.put(text.substring(0, at), value);
    }

    @SuppressWarnings("unchecked")
    private Strategies(Node node, List<String> symbols, Map<String, Object> over, Function<Parameters, Strategy> create) {
        Assignment assignment = node.assignment();
        this.node = node;
        deterministic = assignment.deterministic();
        if (!assignment.kind().equals("strategy") || assignment.recordedClock()) {
            throw usage("node `" + assignment.node() + "` is a " + assignment.kind()
                + ": this library runs one strategy in a process of its own, on a living platform; take `host` out of its group");
        }
        Map<String, Object> section = assignment.section();
        Map<String, Object> values = new LinkedHashMap<>();
        if (section.get("params") instanceof Map<?, ?> file) {
            values.putAll((Map<String, Object>) file);
        }
        values.putAll(over);
        Parameters parameters = new Parameters(values);
        Strategy strategy = create.apply(parameters);
        parameters.demandAllAsked();
        if (section.get("warm_up") instanceof String lasts) {
            throw usage("node `" + assignment.node() + "` has warm_up = \"" + lasts + "\": this library has no warm-up; take it out of its group");
        }
        orders = node.output("orders");
        instruments = node.input("instruments");
        if (orders == null || instruments < 0 || node.input("reports") < 0) {
            throw usage("node `" + assignment.node() + "` has no orders, instruments or reports: is it a strategy?");
        }
        roles = node.inputs().stream().map(input -> Role.of(input.role())).toArray(Role[]::new);
        int state = node.input("state");
        ledger = state < 0 ? -1 : node.inputs().get(state).peerSeat();
        if (state >= 0) {
            node.narrow(state, new int[] {assignment.seat() + 1});
        }
        listEnd = node.inputs().get(instruments).head();
        resume();
        String data = section.get("data") instanceof String text ? text : "depth";
        depths = data.equals("best") ? Latest.open(node.path("md.depths")) : null;
        accounts = Latest.open(node.path("ledger.accounts"));
        budget = section.get("budget") instanceof String text ? Assignment.nanos(text) : 0;
        int[] listed = section.get("accounts") instanceof List<?> all ? all.stream().mapToInt(one -> ((Long) one).intValue()).toArray() : new int[0];
        Context context = new Context(assignment.node(), assignment.seat(), orders.epoch(), listed, data, deterministic,
            interest(section, symbols, strategy), this);
        session = new Session(strategy, context, assignment.generation(), ledger >= 0);
    }

    /** The command line overrides the strategy's own interest, and that the platform file. */
    @SuppressWarnings("unchecked")
    private static Instruments interest(Map<String, Object> section, List<String> symbols, Strategy strategy) {
        if (!symbols.isEmpty()) {
            return new Instruments(symbols, -1);
        }
        if (strategy.symbols() != null) {
            return new Instruments(strategy.symbols(), -1);
        }
        if (section.get("instruments") instanceof List<?> listed) {
            return new Instruments((List<String>) listed, -1);
        }
        boolean isRobin = "round-robin".equals(section.get("instruments"));
        return new Instruments(List.of(), isRobin ? ((Long) section.get("index")).intValue() : -1);
    }

    /** Sets the counters of requests to what the journal has held: they lack a killed predecessor's last message. */
    private void resume() {
        orders.countMissed(frame -> switch (frame.id()) {
            case NewOrder.ID -> 0;
            case CancelOrder.ID, CancelAll.ID -> 1;
            case ReplaceOrder.ID -> 2;
            default -> 4;
        });
        node.setCounter(Counter.ORDERS, orders.tally(0));
        node.setCounter(Counter.CANCELS, orders.tally(1));
        node.setCounter(Counter.REPLACES, orders.tally(2));
    }

    @Override
    public void turn() {
        long due = session.due();
        if (session.isJoining() || due != Long.MAX_VALUE && due <= node.now()) {
            session.turn();
            due = session.due();
        }
        if (session.topicsChanged && session.isWhole) {
            session.topicsChanged = false;
            narrow();
        }
        if (session.context.stops) {
            node.requestStop();
        }
        if (due != Long.MAX_VALUE) {
            node.wakeAt(due);
        }
    }

    /** To what the strategy hears. In lock-step all nodes wait until this one has read everything, which it would not asleep. */
    private void narrow() {
        if (deterministic) {
            return;
        }
        for (int index = 0; index < roles.length; index++) {
            if (roles[index].isMarket()) {
                node.narrow(index, roles[index] == session.hears ? session.context.instruments.topics() : new int[0]);
            }
        }
    }

    @Override
    public boolean accepts(int input, long position) {
        if (input == instruments && !session.isWhole && position >= listEnd) {
            session.completeList();
        }
        return session.accepts(roles[input]);
    }

    @Override
    public void frame(int input, Frame frame) {
        long received = node.now();
        session.frame(roles[input], node.inputs().get(input).journalId(), frame, received);
        sayWhenDue();
        if (budget > 0) {
            charge(node.now() - received);
        }
    }

    /** md announces the time of the next timer before it publishes a later event. */
    private void sayWhenDue() {
        long due = session.marketDue();
        if (due != saidDue) {
            saidDue = due;
            node.setCounter(Counter.MARKET_DUE, due);
        }
    }

    private void charge(long took) {
        if (took <= budget) {
            return;
        }
        overruns++;
        node.count(Counter.OVERRUNS, 1);
        node.setCounter(Counter.OVERRUN_MAX, Math.max(took, node.counter(Counter.OVERRUN_MAX)));
        if ((overruns & overruns - 1) == 0) {
            log(Log.WARN, "took " + took + " ns for one call, its budget is " + budget + " ns (" + overruns + " overruns)");
        }
    }

    @Override
    public void gap(int input, long from, long to) {
        session.gap(roles[input], to - from);
    }

    @Override
    public boolean inTimeOrder() {
        return deterministic;
    }

    @Override
    public void stop() {
        session.stop();
    }

    @Override
    public long now() {
        return node.now();
    }

    @Override
    public boolean send(Message request, int tallyClass) {
        if (!orders.write(0, request)) {
            return false;
        }
        orders.count(tallyClass);
        return true;
    }

    @Override
    public boolean depth(int instrument, byte[] to, int length) {
        return depths != null && depths.get(instrument, to, length);
    }

    @Override
    public boolean account(long slot, byte[] to, int length) {
        return accounts != null && accounts.get(slot, to, length);
    }

    @Override
    public boolean keepsAccounts() {
        return accounts != null;
    }

    @Override
    public void askState() {
        if (ledger >= 0) {
            node.ask(ledger);
        }
    }

    @Override
    public void settleState() {
        if (ledger >= 0) {
            node.settle(ledger);
        }
    }

    @Override
    public void count(Counter counter, long amount) {
        node.count(counter, amount);
    }

    @Override
    public void log(Log level, String text) {
        level.line(TARGET, node.assignment().node() + ": " + text);
    }
}
