package colo.node;

import colo.journal.Clock;
import colo.journal.Frame;
import colo.journal.GatedReader;
import colo.journal.Journal;
import colo.journal.Native;
import colo.journal.Read;
import colo.journal.Reader;
import colo.journal.Registry;
import colo.journal.Writer;
import colo.layout.Journals;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import sun.misc.Signal;

/** A process that has its seat, its place and its journals. Master is needed to join, and for nothing more. */
public final class Node {
    private static final int BURST = 64;
    private static final int IDLE_ROUNDS = 1 << 10;
    private static final long HEARTBEAT = 10_000_000;
    private static final long MISSED = 10_000_000;
    private static final long SHORTEST_NET = 100_000_000;
    private static final long LONGEST_SLEEP = 400_000_000;
    private static final int RUNNING = 3;
    private static final int STOPPING = 5;
    private static final int STOPPED = 6;
    private static final int DEAD = 7;

    /** A journal that the node reads. */
    public static final class Input {
        private final Assignment.ReadOf of;
        private final Journal journal;
        private final Reader reader;
        private boolean accepts = true;

        private Input(Assignment.ReadOf of, Journal journal, Reader reader) {
            this.of = of;
            this.journal = journal;
            this.reader = reader;
        }

        public String role() {
            return of.role();
        }

        public int peerSeat() {
            return of.peerSeat();
        }

        public int journalId() {
            return journal.id();
        }

        public long head() {
            return journal.head();
        }
    }

    private final Assignment assignment;
    private final Instance instance;
    private final List<Input> inputs = new ArrayList<>();
    private final List<Writer> outputs = new ArrayList<>();
    private Registry registry;
    private Clock clock;
    private final Frame frame = new Frame();
    private final BooleanSupplier hasNews = this::anyNews;
    private volatile boolean isAsked;
    private boolean wantsStop;
    private long deadline;
    private long lastBeat;
    private long lastNews;
    private long net = SHORTEST_NET;
    private int idle;
    // Of the inputs, once the node stops: what comes later is not read, and nothing once it is late.
    private long[] ends;
    private long late;

    Node(Assignment assignment, Instance instance) {
        this.assignment = assignment;
        this.instance = instance;
    }

    /** Registers, moves to the planned place, and opens the journals. */
    public static Node join(String name, String node) {
        Instance instance = new Instance(name);
        instance.demandOwn();
        Node joined = new Node(instance.register(node), instance);
        try {
            joined.open();
        } catch (RuntimeException error) {
            joined.leave(ExitException.codeOf(error));
            throw error;
        }
        return joined;
    }

    /** Where it says how it goes. */
    void sit(Registry in) {
        registry = in;
        clock = in.clock();
    }

    private void open() {
        sit(Registry.open(instance.folder().resolve("registry")));
        if (assignment.cpus() != null) {
            place();
        }
        if (assignment.lockMemory() && Native.lockMemory() != 0) {
            throw new ExitException(ExitException.FAILED, "memory cannot be locked: raise the limit (ulimit -l)");
        }
        for (String name : new String[] {"TERM", "INT"}) {
            Signal.handle(new Signal(name), signal -> {
                isAsked = true;
                registry.wake(assignment.seat());
            });
        }
        registry.leaveBell(assignment.seat());
        for (Assignment.WriteOf write : assignment.writes()) {
            Journal journal = journal(write.journal(), write.huge(), Journal.Access.WRITE);
            outputs.add(journal.writer(assignment.seat(), clock, registry));
        }
        for (Assignment.ReadOf read : assignment.reads()) {
            read(read, journal(read.journal(), read.huge(), Journal.Access.READ));
        }
        if (assignment.sleeps()) {
            registry.announce();
        }
    }

    void read(Assignment.ReadOf read, Journal journal) {
        Reader reader = read.gated() ? journal.gated(assignment.seat())
            : journal.loose(assignment.seat(), read.fromStart() ? journal.oldest() : journal.head());
        reader.setDurable(read.durable());
        Input input = new Input(read, journal, reader);
        inputs.add(input);
        narrowed(input, null);
    }

    private Journal journal(String name, String huge, Journal.Access access) {
        Path folder = instance.journals();
        return Journal.open(folder.resolve(name + ".ctl"), instance.rings(huge).resolve(name + ".ring"), folder.resolve(name + ".lock"), access);
    }

    /** Every thread: Java has several before main, and master looks at all. Those that come later inherit it. */
    private void place() {
        long[] mask = new long[16];
        for (String part : assignment.cpus().split(",")) {
            String[] range = part.trim().split("-");
            for (int cpu = Integer.parseInt(range[0]); cpu <= Integer.parseInt(range[range.length - 1]); cpu++) {
                mask[cpu / 64] |= 1L << cpu % 64;
            }
        }
        Set<String> done = new HashSet<>();
        for (boolean more = true; more;) {
            more = false;
            String[] threads = new File("/proc/self/task").list();
            for (String thread : threads == null ? new String[0] : threads) {
                if (done.add(thread)) {
                    more = true;
                    int errno = Native.setAffinity(Integer.parseInt(thread), mask);
                    errno = errno == 0 ? schedule(Integer.parseInt(thread)) : errno;
                    final int gone = 3;
                    if (errno != 0 && errno != gone) {
                        throw new ExitException(ExitException.PERMISSION,
                            "running on CPUs " + assignment.cpus() + " with policy " + assignment.policy() + ": error " + errno);
                    }
                    // One that sleeps has not moved yet.
                    Native.nudge(Integer.parseInt(thread));
                }
            }
        }
    }

    private int schedule(int thread) {
        String policy = assignment.policy();
        if (policy == null) {
            return 0;
        }
        String[] words = policy.split(":");
        int value = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        return switch (words[0]) {
            case "fifo" -> Native.setScheduler(thread, 1, value);
            case "idle" -> Native.setScheduler(thread, 5, 0);
            case "nice" -> Native.setNice(thread, value);
            default -> throw new ExitException(ExitException.USAGE, "policy `" + policy + "` is not known");
        };
    }

    /** Has an input be read, and wake the node, only for these topics; null: all. */
    public void narrow(int input, int[] topics) {
        narrowed(inputs.get(input), topics);
        if (assignment.sleeps()) {
            registry.announce();
        }
    }

    private void narrowed(Input input, int[] topics) {
        int[] nothing = {};
        input.reader.setTopics(topics);
        if (input.of.durable()) {
            // Only the disk wakes it.
            input.journal.setDurableInterest(assignment.seat(), assignment.sleeps());
            input.journal.setInterest(assignment.seat(), nothing);
        } else if (!assignment.sleeps()) {
            input.journal.setInterest(assignment.seat(), nothing);
        } else {
            input.journal.setInterest(assignment.seat(), assignment.wake().equals("broadcast") ? null : topics);
        }
    }

    public Assignment assignment() {
        return assignment;
    }

    public List<Input> inputs() {
        return inputs;
    }

    /** Index of the input in a role; -1: there is none. */
    public int input(String role) {
        for (int index = 0; index < inputs.size(); index++) {
            if (inputs.get(index).role().equals(role)) {
                return index;
            }
        }
        return -1;
    }

    /** What the node writes in a role; null: nothing. */
    public Writer output(String role) {
        for (int index = 0; index < outputs.size(); index++) {
            if (assignment.writes().get(index).role().equals(role)) {
                return outputs.get(index);
            }
        }
        return null;
    }

    /** The platform's time. */
    public long now() {
        return clock.now();
    }

    /** A file of the instance beside its journals. */
    public Path path(String file) {
        return instance.journals().resolve(file);
    }

    /** Has the next sleep end at this time. */
    public void wakeAt(long time) {
        deadline = Math.min(deadline, time);
    }

    /** Ends the run in good order. */
    public void requestStop() {
        wantsStop = true;
    }

    /** Asks the node in a seat for this node's state. */
    public void ask(int whom) {
        long asked = registry.word(assignment.seat(), Journals.REGISTRY_ASKED);
        registry.setWord(assignment.seat(), Journals.REGISTRY_ASKED, (asked / 2 + 1) * 2 + 1);
        registry.wake(whom);
    }

    /** Ends the wait for the answer. */
    public void settle(int whom) {
        long asked = registry.word(assignment.seat(), Journals.REGISTRY_ASKED);
        registry.setWord(assignment.seat(), Journals.REGISTRY_ASKED, Math.max(asked / 2, 1) * 2);
        registry.wake(whom);
    }

    public void count(Counter counter, long amount) {
        setCounter(counter, counter(counter) + amount);
    }

    public long counter(Counter counter) {
        return registry.word(assignment.seat(), wordOf(counter));
    }

    public void setCounter(Counter counter, long value) {
        registry.setWord(assignment.seat(), wordOf(counter), value);
    }

    private static long wordOf(Counter counter) {
        int later = counter.number() - Journals.REGISTRY_COUNTER_COUNT;
        return later < 0 ? Journals.REGISTRY_COUNTERS + counter.number() * 8L : Journals.REGISTRY_MORE_COUNTERS + later * 8L;
    }

    /** Polls until it is asked to stop. Afterwards the seat says how it ended. */
    public void run(Component component) {
        int code = ExitException.FAILED;
        try {
            poll(component);
            code = 0;
        } catch (RuntimeException | Error error) {
            code = ExitException.codeOf(error);
            throw error;
        } finally {
            leave(code);
        }
    }

    /** Leaves before it ran. */
    public void abandon(Throwable error) {
        leave(ExitException.codeOf(error));
    }

    private void leave(int code) {
        inputs.forEach(input -> input.reader.close());
        outputs.forEach(Writer::close);
        if (registry != null) {
            registry.setWord(assignment.seat(), Journals.REGISTRY_EXIT, code + 1);
            registry.setWord(assignment.seat(), Journals.REGISTRY_STATE, code == 0 ? STOPPED : DEAD);
        }
    }

    private void poll(Component component) {
        beat(now());
        registry.setWord(assignment.seat(), Journals.REGISTRY_STATE, RUNNING);
        while (!isAsked && !wantsStop) {
            deadline = Long.MAX_VALUE;
            component.turn();
            if (round(component)) {
                lastNews = now();
                beat(lastNews);
            } else {
                await(component);
            }
        }
        registry.setWord(assignment.seat(), Journals.REGISTRY_STATE, STOPPING);
        drain(component);
        component.stop();
    }

    /** Handles what was committed before the stop. */
    void drain(Component component) {
        late = System.nanoTime() + assignment.drainNanos();
        ends = inputs.stream().mapToLong(Input::head).toArray();
        while (round(component)) {
            // Until nothing is taken any more.
        }
        // There was no time for it, or the component does not take it, as a strategy that waits for its state.
        for (int index = 0; index < ends.length; index++) {
            long left = ends[index] - inputs.get(index).reader.position();
            if (left > 0) {
                Log.WARN.line("colo.node", "stops with " + left + " bytes of `" + inputs.get(index).of.journal() + "` unread");
            }
        }
    }

    private boolean accepts(Component component, int index) {
        Input input = inputs.get(index);
        long position = input.reader.position();
        input.accepts = component.accepts(index, position);
        // While it stops, the time counts after each frame: one may take long.
        return input.accepts && (ends == null || position < ends[index] && System.nanoTime() - late < 0);
    }

    private boolean round(Component component) {
        int taken = 0;
        if (component.inTimeOrder()) {
            while (taken < BURST) {
                int index = earliest(component);
                if (index < 0) {
                    break;
                }
                take(component, index);
                taken++;
            }
            return taken > 0;
        }
        for (int index = 0; index < inputs.size(); index++) {
            int count = 0;
            while (count < BURST && accepts(component, index) && take(component, index)) {
                count++;
            }
            if (count == BURST) {
                inputs.get(index).reader.release();
            }
            taken += count;
        }
        return taken > 0;
    }

    /**
     * Index of the input with the earliest frame; -1: there is none. The cause of a frame was committed before it, but perhaps
     * behind our look at its journal: so a look counts only when the next one finds the same.
     */
    private int earliest(Component component) {
        int before = -2;
        while (true) {
            int found = -1;
            long least = Long.MAX_VALUE;
            for (int index = 0; index < inputs.size(); index++) {
                if (!accepts(component, index)) {
                    continue;
                }
                Input input = inputs.get(index);
                long time = input.reader.peekTime();
                if (time < 0) {
                    if (!(input.reader instanceof GatedReader) && input.reader.hasNews()) {
                        // A gap, or something of the wrong topic: told where it is read.
                        return index;
                    }
                    continue;
                }
                boolean isFirst = time < least || time == least && input.journalId() < inputs.get(found).journalId();
                if (found < 0 || isFirst) {
                    found = index;
                    least = time;
                }
            }
            if (found == before) {
                return found;
            }
            before = found;
        }
    }

    private boolean take(Component component, int index) {
        Reader reader = inputs.get(index).reader;
        switch (reader.next(frame)) {
            case FRAME -> {
                count(Counter.FRAMES_READ, 1);
                component.frame(index, frame);
                return true;
            }
            case GAP -> {
                count(Counter.GAPS, 1);
                count(Counter.BYTES_LOST, reader.position() - reader.gapFrom());
                component.gap(index, reader.gapFrom(), reader.position());
                return true;
            }
            default -> {
                return false;
            }
        }
    }

    private boolean anyNews() {
        for (int index = 0; index < inputs.size(); index++) {
            Input input = inputs.get(index);
            if (input.accepts && input.reader.hasNews()) {
                return true;
            }
        }
        return isAsked;
    }

    private void await(Component component) {
        if (!assignment.sleeps()) {
            spin();
            return;
        }
        long now = now();
        if (assignment.spinNanos() > 0 && now - lastNews < assignment.spinNanos()) {
            spin();
            return;
        }
        beat(now);
        if (deadline <= now) {
            return;
        }
        boolean isNet = deadline - now >= net;
        switch (registry.park(assignment.seat(), isNet ? net : deadline - now, hasNews)) {
            case NOT_ASLEEP -> net = SHORTEST_NET;
            case WOKEN -> {
                count(Counter.PARKS, 1);
                count(Counter.WAKES, 1);
                net = SHORTEST_NET;
            }
            default -> {
                count(Counter.PARKS, 1);
                look(isNet);
            }
        }
    }

    /** Looks for what a waker that was killed did not tell. */
    private void look(boolean isNet) {
        boolean found = false;
        boolean late = false;
        long now = now();
        for (int index = 0; index < inputs.size(); index++) {
            Input input = inputs.get(index);
            if (input.reader.hasNews()) {
                found = true;
                long time = input.accepts ? input.reader.peekTime() : -1;
                late |= time >= 0 && now - time > MISSED;
            }
        }
        if (late) {
            count(Counter.WAIT_TIMEOUTS_WITH_DATA, 1);
        }
        if (isNet) {
            count(Counter.WAIT_TIMEOUTS, 1);
        }
        if (found) {
            net = SHORTEST_NET;
        } else if (isNet && !assignment.wake().equals("relay")) {
            net = Math.min(2 * net, LONGEST_SLEEP);
        }
    }

    private void spin() {
        Thread.onSpinWait();
        if (++idle % IDLE_ROUNDS == 0) {
            beat(now());
        }
    }

    private void beat(long now) {
        if (now - lastBeat >= HEARTBEAT) {
            lastBeat = now;
            registry.setWord(assignment.seat(), Journals.REGISTRY_HEARTBEAT, now);
            registry.setWord(assignment.seat(), Journals.REGISTRY_CPU, Math.max(0, Native.cpu()));
        }
    }
}
