package colo.test;

import static colo.test.Check.holds;
import static colo.test.Check.same;

import colo.journal.Clock;
import colo.journal.Frame;
import colo.journal.GatedReader;
import colo.journal.Journal;
import colo.journal.JournalException;
import colo.journal.JournalException.Code;
import colo.journal.LooseReader;
import colo.journal.MappedReader;
import colo.journal.Read;
import colo.journal.Reader;
import colo.journal.Registry;
import colo.journal.Windows;
import colo.journal.Writer;
import colo.layout.Journals;
import colo.node.Log;
import colo.node.Stops;
import colo.strategy.Context;
import colo.strategy.Harness;
import colo.strategy.Parameters;
import colo.strategy.Refusal;
import colo.strategy.Strategy;
import colo.wire.Fill;
import colo.wire.Instrument;
import colo.wire.Liquidity;
import colo.wire.Message;
import colo.wire.NewOrder;
import colo.wire.OrderStatus;
import colo.wire.OrderUpdate;
import colo.wire.Quote;
import colo.wire.Reason;
import colo.wire.Side;
import com.sun.management.ThreadMXBean;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import taker.Taker;

/** Everything, by JDK 22 and newer. The argument is the workspace's folder. */
public final class Test22 {
    private static final long SMALL = 64 << 10;
    private static final int SEATS = 64;
    private static final int TOPICS = 16;

    public static void main(String[] arguments) {
        Test22 tests = new Test22();
        Check check = new Check();
        Test17.of(Path.of(arguments[0])).addTo(check);
        check.test("frames of all sizes come back round the ring", tests::round);
        check.test("a gated reader holds the writer up, and a kept place too", tests::gate);
        check.test("a lapped reader says exactly what it lost", tests::lapped);
        check.test("batches, records and skipped space are read as they are written", tests::kinds);
        check.test("nothing else is written before a batch is committed", tests::orderOfCalls);
        check.test("locks keep a second writer and a second reader out", tests::locks);
        check.test("a program that is started keeps no lock", tests::descriptors);
        check.test("damaged headers are refused", tests::damage);
        check.test("a successor goes on behind what a killed writer committed", tests::successor);
        check.test("rings above 2 GiB are read in windows", tests::large);
        check.test("a sleeper is woken for its topic", tests::park);
        check.test("reading and writing make no garbage", tests::noGarbage);
        check.test("a strategy makes no garbage from quote to order", tests::noGarbageInAStrategy);
        check.test("orders, positions and refusals are followed", tests::orders);
        check.test("timers fire in their order", tests::timers);
        check.test("what has no side is refused before it is sent", tests::sides);
        check.test("a stop ends behind the frame in which its time is over, and says what is unread", tests::stops);
        check.test("a line of the log is where reports look for an error", tests::lines);
        check.runAll();
    }

    /** Files of a new journal. */
    private static Path files(long capacity) throws IOException {
        Path folder = Check.folder();
        int end = Journals.CONTROL_CURSORS + SEATS * Journals.LINE_BYTES + TOPICS * SEATS / 8;
        ByteBuffer page = ByteBuffer.allocate(end + 4095 & ~4095).order(ByteOrder.LITTLE_ENDIAN);
        page.putLong(Journals.CONTROL_MAGIC, Journals.CONTROL_MAGIC_WORD);
        page.putLong(Journals.CONTROL_VERSION, Journals.FORMAT_VERSION);
        page.putLong(Journals.CONTROL_LAYOUT_HASH, Journals.LAYOUT_HASH);
        page.putLong(Journals.CONTROL_ID, 1 | 12L << 32);
        page.putLong(Journals.CONTROL_CAPACITY, capacity);
        page.putLong(Journals.CONTROL_TABLES, SEATS | (long) TOPICS << 32);
        page.putLong(Journals.CONTROL_MAX_PAYLOAD, Math.min(capacity / 8, Journals.MAX_PAYLOAD) - Journals.FRAME_PAYLOAD);
        page.putLong(Journals.CONTROL_INCARNATION, 1);
        page.putLong(Journals.CONTROL_IDENTITY, 0x1234567);
        page.putLong(Journals.CONTROL_FIRST, capacity);
        page.putLong(Journals.CONTROL_HEAD, capacity);
        page.putLong(Journals.CONTROL_INTENT, capacity);
        page.put(Journals.CONTROL_NAME, (byte) 't');
        Files.write(folder.resolve("t.ctl"), page.array());
        Files.write(folder.resolve("t.lock"), ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN)
            .putLong(0, Journals.LOCK_MAGIC_WORD).putLong(8, 0x1234567).array());
        try (RandomAccessFile ring = new RandomAccessFile(folder.resolve("t.ring").toFile(), "rw")) {
            ring.setLength(capacity);
        }
        return folder;
    }

    private static Journal open(Path folder, Journal.Access access) {
        return Journal.open(folder, "t", access);
    }

    private static Writer writer(Path folder) {
        return open(folder, Journal.Access.WRITE).writer(0, Clock.monotonic(), null);
    }

    private static byte[] body(long number) {
        byte[] bytes = new byte[(int) (8 + number * 61 % 900)];
        for (int at = 0; at < bytes.length; at++) {
            bytes[at] = (byte) (number * 167 + at * 31L + (at >> 8) * 13L);
        }
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(0, number);
        return bytes;
    }

    private static long number(Frame frame) {
        long number = ByteBuffer.wrap(frame.payload()).order(ByteOrder.LITTLE_ENDIAN).getLong(0);
        holds(java.util.Arrays.equals(frame.payload(), 0, frame.length(), body(number), 0, body(number).length)
            && frame.topic() == number % TOPICS && frame.id() == (int) number, "frame " + number + " is torn");
        return number;
    }

    private static boolean write(Writer writer, long number) {
        byte[] body = body(number);
        return writer.write((int) number, (int) (number % TOPICS), body, 0, body.length);
    }

    private void round() throws IOException {
        Path folder = files(SMALL);
        Writer writer = writer(folder);
        Reader[] readers = {open(folder, Journal.Access.READ).gated(5), open(folder, Journal.Access.OBSERVE).loose(SMALL)};
        MappedReader mapped = MappedReader.open(folder, "t");
        MappedReader windows = Windows.open(folder, "t", 12);
        Frame frame = new Frame();
        long[] read = new long[4];
        for (long number = 0; number < 1000; number++) {
            holds(write(writer, number), number);
            for (int index = 0; index < 4; index++) {
                Read found = index < 2 ? readers[index].next(frame) : index == 2 ? mapped.next(frame) : windows.next(frame);
                same(found, Read.FRAME);
                same(number(frame), read[index]++);
            }
        }
        holds(writer.position() > 5 * SMALL, writer.position());
    }

    private void gate() throws IOException {
        Path folder = files(SMALL);
        Writer writer = writer(folder);
        GatedReader reader = open(folder, Journal.Access.READ).gated(5);
        reader.keep(reader.position());
        Frame frame = new Frame();
        holds(fill(writer) > 50, "full too early");
        while (reader.next(frame) == Read.FRAME) {
            // Reads everything.
        }
        same(fill(writer), 0);
        reader.keep(reader.position());
        holds(fill(writer) > 50, "what was given free is not written");
        // A successor begins where it was.
        long at = reader.position();
        reader.close();
        same(open(folder, Journal.Access.READ).gated(5).position(), at);
    }

    private static int fill(Writer writer) {
        int count = 0;
        while (writer.write(1, 0, new byte[1000], 0, 1000)) {
            count++;
        }
        return count;
    }

    private void lapped() throws IOException {
        Path folder = files(SMALL);
        Writer writer = writer(folder);
        LooseReader reader = open(folder, Journal.Access.OBSERVE).loose(SMALL);
        MappedReader mapped = MappedReader.open(folder, "t");
        for (long number = 0; number < 500; number++) {
            write(writer, number);
        }
        Frame frame = new Frame();
        same(reader.next(frame), Read.GAP);
        same(reader.gapFrom() + " " + reader.position(), SMALL + " " + writer.position());
        same(reader.next(frame), Read.NOTHING);
        same(mapped.next(frame), Read.GAP);
        same(mapped.lost(), writer.position() - SMALL);
    }

    private void kinds() throws IOException {
        Path folder = files(SMALL);
        Writer writer = writer(folder);
        Reader reader = open(folder, Journal.Access.READ).gated(5);
        Frame frame = new Frame();
        writer.beginBatch();
        for (long number = 0; number < 3; number++) {
            writer.push((int) number, (int) number, body(number), 0, body(number).length);
        }
        same(reader.next(frame), Read.NOTHING);
        writer.commitBatch();
        for (long number = 0; number < 3; number++) {
            same(reader.next(frame), Read.FRAME);
            same(number(frame), number);
            same(frame.time(), writer.time());
        }
        byte[] records = "firstotherthird".getBytes();
        holds(writer.writeRecords(7, 3, 5, records, records.length), "records");
        same(reader.next(frame), Read.FRAME);
        same(frame.records() + " " + frame.recordSize() + " " + (frame.recordPosition(2) - frame.position()), "3 5 42");
        long to = writer.position() + 20_032;
        holds(writer.skipTo(to), "skip");
        write(writer, 9);
        same(reader.next(frame), Read.FRAME);
        same(frame.position(), to);
    }

    private static Code code(Check.Test action) throws Exception {
        try {
            action.run();
        } catch (JournalException error) {
            return error.code();
        }
        return null;
    }

    private void orderOfCalls() throws Exception {
        Path folder = files(SMALL);
        Writer writer = writer(folder);
        Reader reader = open(folder, Journal.Access.READ).gated(5);
        Frame frame = new Frame();
        byte[] small = body(0);
        byte[] large = new byte[1_000];
        writer.beginBatch();
        writer.push(0, 0, small, 0, small.length);
        same(code(() -> writer.write(1, 0, large, 0, large.length)), Code.ORDER_OF_CALLS);
        same(code(() -> writer.writeRecords(1, 0, 5, large, large.length)), Code.ORDER_OF_CALLS);
        same(code(() -> writer.skipTo(writer.position() + 64_000)), Code.ORDER_OF_CALLS);
        writer.commitBatch();
        same(reader.next(frame), Read.FRAME);
        same(number(frame), 0L);
        // An empty batch refuses no write, and begins behind the frames that were written meanwhile.
        writer.beginBatch();
        write(writer, 1);
        byte[] third = body(2);
        writer.push(2, 2, third, 0, third.length);
        writer.commitBatch();
        for (long number = 1; number < 3; number++) {
            same(reader.next(frame), Read.FRAME);
            same(number(frame), number);
        }
        same(reader.next(frame), Read.NOTHING);
        same(reader.position(), writer.position());
        writer.beginBatch();
        writer.push(9, 0, large, 0, large.length);
        writer.abandonBatch();
        write(writer, 3);
        same(reader.next(frame), Read.FRAME);
        same(number(frame), 3L);
    }

    private void locks() throws Exception {
        Path folder = files(SMALL);
        Writer writer = writer(folder);
        same(code(() -> writer(folder)), Code.WRITER_EXISTS);
        Reader reader = open(folder, Journal.Access.READ).gated(3);
        same(code(() -> open(folder, Journal.Access.READ).gated(3)), Code.SEAT_TAKEN);
        reader.close();
        open(folder, Journal.Access.READ).gated(3).close();
        same(code(() -> open(folder, Journal.Access.READ).gated(64)), Code.NO_SUCH_SEAT);
        same(code(() -> open(folder, Journal.Access.OBSERVE).gated(1)), Code.READ_ONLY);
        same(code(() -> writer.write(1, TOPICS, new byte[1], 0, 1)), Code.NO_SUCH_TOPIC);
        Check.poke(folder.resolve("t.lock"), 8, 1);
        same(code(() -> open(folder, Journal.Access.READ).gated(4)), Code.REPLACED);
    }

    private void descriptors() throws Exception {
        Path folder = files(SMALL);
        Writer writer = writer(folder);
        Reader reader = open(folder, Journal.Access.READ).gated(3);
        Process program = new ProcessBuilder("sleep", "60").start();
        try (var descriptors = Files.list(Path.of("/proc/" + program.pid() + "/fd"))) {
            for (Path descriptor : descriptors.toList()) {
                same(Files.readSymbolicLink(descriptor).toString().endsWith(".lock"), false);
            }
        } finally {
            program.destroyForcibly();
        }
        reader.close();
        writer.close();
    }

    private void damage() throws Exception {
        Path folder = files(SMALL);
        Path page = folder.resolve("t.ctl");
        Object[][] cases = {
            {Journals.CONTROL_MAGIC, 7L, Code.FOREIGN}, {Journals.CONTROL_VERSION, 99L, Code.VERSION},
            {Journals.CONTROL_LAYOUT_HASH, 2L, Code.VERSION}, {Journals.CONTROL_CAPACITY, 77L, Code.DAMAGED},
            {Journals.CONTROL_CAPACITY, 2 * SMALL, Code.DAMAGED}, {Journals.CONTROL_TABLES, 77L, Code.DAMAGED},
            {Journals.CONTROL_MAX_PAYLOAD, SMALL, Code.DAMAGED}, {Journals.CONTROL_ID, 11L << 32, Code.DAMAGED},
            {Journals.CONTROL_NAME, 0x41L, Code.DAMAGED}, {Journals.CONTROL_FIRST, 64L, Code.DAMAGED},
            {Journals.CONTROL_HEAD, 77L, Code.DAMAGED}, {Journals.CONTROL_HEAD, Long.MIN_VALUE, Code.DAMAGED},
            {Journals.CONTROL_INTENT, 1L << 60, Code.DAMAGED}, {Journals.CONTROL_INTENT, -64L, Code.DAMAGED},
            {Journals.CONTROL_INTENT, 0L, Code.DAMAGED},
        };
        for (Object[] damage : cases) {
            int at = (int) damage[0];
            long before = Check.peek(page, at);
            Check.poke(page, at, (long) damage[1]);
            String what = damage[1] + " at " + at;
            Code found = code(() -> open(folder, Journal.Access.OBSERVE));
            holds(found == damage[2], what + ": " + found);
            holds(code(() -> MappedReader.open(folder, "t")) == damage[2], what);
            Check.poke(page, at, before);
        }
        open(folder, Journal.Access.OBSERVE).close();
    }

    private void successor() throws Exception {
        Path folder = files(SMALL);
        Writer first = writer(folder);
        write(first, 1);
        long head = Check.peek(folder.resolve("t.ctl"), Journals.CONTROL_HEAD);
        long frames = Check.peek(folder.resolve("t.ctl"), Journals.CONTROL_FRAMES);
        write(first, 2);
        long end = first.position();
        first.beginBatch();
        first.push(1, 0, new byte[30], 0, 30);
        first.stageBatch();
        first.close();
        // As if it had been killed behind the commit of the second, before it counted.
        Check.poke(folder.resolve("t.ctl"), Journals.CONTROL_HEAD, head);
        Check.poke(folder.resolve("t.ctl"), Journals.CONTROL_FRAMES, frames);
        Writer second = writer(folder);
        same(second.position(), end);
        same(second.epoch(), first.epoch() + 1);
        same(Check.peek(folder.resolve("t.ctl"), Journals.CONTROL_FRAMES) >>> 16, 2L);
    }

    /** Of such a ring only the pages that are touched take memory. */
    private void large() throws IOException {
        long capacity = 4L << 30;
        Path folder = files(capacity);
        Writer writer = writer(folder);
        MappedReader mapped = MappedReader.open(folder, "t");
        Reader reader = open(folder, Journal.Access.OBSERVE).loose(capacity);
        Frame frame = new Frame();
        long[] places = {1L << 30, (2L << 30) - 448, (2L << 30) + 512, (3L << 30) + 64, capacity - 256, capacity + 512};
        for (int place = 0; place < places.length; place++) {
            holds(writer.skipTo(capacity + places[place]), "skip");
            holds(write(writer, place + 5), "write");
            same(mapped.next(frame), Read.FRAME);
            same(frame.position() + " " + number(frame), capacity + places[place] + " " + (place + 5));
            same(reader.next(frame), Read.FRAME);
            same(number(frame), place + 5L);
        }
    }

    private static Registry registry(Path folder) throws IOException {
        ByteBuffer words = ByteBuffer.allocate(Journals.REGISTRY_RECORDS + SEATS * Journals.REGISTRY_RECORD_WORDS * 8).order(ByteOrder.LITTLE_ENDIAN);
        words.putLong(Journals.REGISTRY_MAGIC, Journals.REGISTRY_MAGIC_WORD);
        words.putLong(Journals.REGISTRY_VERSION, Journals.FORMAT_VERSION);
        words.putLong(Journals.REGISTRY_LAYOUT_HASH, Journals.LAYOUT_HASH);
        words.putLong(Journals.REGISTRY_SEATS, SEATS);
        Files.write(folder.resolve("registry"), words.array());
        return Registry.open(folder.resolve("registry"));
    }

    private void park() throws Exception {
        Path folder = files(SMALL);
        Registry registry = registry(folder);
        Writer writer = open(folder, Journal.Access.WRITE).writer(0, Clock.monotonic(), registry);
        Journal journal = open(folder, Journal.Access.READ);
        GatedReader reader = journal.gated(5);
        journal.setInterest(5, new int[] {3});
        registry.announce();
        AtomicReference<Registry.Sleep> ended = new AtomicReference<>();
        Thread sleeper = new Thread(() -> ended.set(registry.park(5, 60_000_000_000L, reader::hasNews)));
        sleeper.start();
        while (registry.word(5, Journals.REGISTRY_WAIT) != 1) {
            Thread.sleep(1);
        }
        Thread.sleep(20);
        // The collector does not wait for it.
        System.gc();
        writer.write(1, 2, new byte[8], 0, 8);
        Thread.sleep(50);
        same(registry.word(5, Journals.REGISTRY_WAIT), 1L);
        writer.write(1, 3, new byte[8], 0, 8);
        sleeper.join();
        same(ended.get(), Registry.Sleep.WOKEN);
        same(registry.park(5, 1_000_000_000, reader::hasNews), Registry.Sleep.NOT_ASLEEP);
        Frame frame = new Frame();
        while (reader.next(frame) == Read.FRAME) {
            // Reads everything.
        }
        same(registry.park(5, 1_000_000, reader::hasNews), Registry.Sleep.TIMED_OUT);
    }

    /** Bytes that the action makes on this thread, once it is warm. */
    private static long garbage(Runnable action) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long made = Long.MAX_VALUE;
        for (int round = 0; round < 20 && made != 0; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            action.run();
            made = threads.getCurrentThreadAllocatedBytes() - before;
        }
        return made;
    }

    private void noGarbage() throws IOException {
        Path folder = files(1 << 20);
        Registry registry = registry(folder);
        Writer writer = open(folder, Journal.Access.WRITE).writer(0, Clock.monotonic(), registry);
        Journal journal = open(folder, Journal.Access.READ);
        Reader[] readers = {journal.gated(5), journal.loose(6, journal.head())};
        MappedReader mapped = MappedReader.open(folder, "t");
        byte[] payload = new byte[96];
        Frame frame = new Frame();
        Quote quote = new Quote();
        long made = garbage(() -> {
            for (int count = 0; count < 50_000; count++) {
                holds(writer.write(2, 1, payload, 0, 96), "full");
                for (int index = 0; index < readers.length; index++) {
                    holds(readers[index].next(frame) == Read.FRAME, "nothing");
                }
                holds(mapped.next(frame) == Read.FRAME, "nothing");
                quote.wrap(frame.payload(), 0);
            }
        });
        same(made, 0L);
    }

    private static Instrument instrument(int id) {
        Instrument instrument = new Instrument().allocate();
        instrument.id(id);
        instrument.symbol("SIM00" + id);
        instrument.lot(10);
        instrument.tick(Message.ONE / 100);
        return instrument;
    }

    private static Quote quote(int id, long bid, long ask) {
        Quote quote = new Quote().allocate();
        quote.instrument(id);
        for (int level = 0; level < 10; level++) {
            quote.bidsPrice(level, level == 0 ? bid : Message.NO_PRICE);
            quote.asksPrice(level, level == 0 ? ask : Message.NO_PRICE);
        }
        return quote;
    }

    private static OrderUpdate update(long order, int id, Side side, OrderStatus status) {
        OrderUpdate update = new OrderUpdate().allocate();
        update.orderId(order);
        update.instrument(id);
        update.side(side);
        update.status(status);
        update.reason(Reason.NONE);
        return update;
    }

    private static Fill fill(long order, int id, Side side, long price, long quantity) {
        Fill fill = new Fill().allocate();
        fill.orderId(order);
        fill.instrument(id);
        fill.side(side);
        fill.liquidity(Liquidity.TAKER);
        fill.price(price);
        fill.quantity(quantity);
        return fill;
    }

    private void noGarbageInAStrategy() {
        Harness harness = new Harness(new Taker(new Parameters(Map.of("max_position", 3L))), "depth", instrument(1));
        harness.keeps = false;
        Quote quote = quote(1, 99 * Message.ONE, 101 * Message.ONE);
        OrderUpdate ended = update(0, 1, Side.BUY, OrderStatus.CANCELLED);
        Fill[] fills = {fill(0, 1, Side.BUY, 101 * Message.ONE, 10), fill(0, 1, Side.SELL, 99 * Message.ONE, 10)};
        long made = garbage(() -> {
            for (int count = 0; count < 50_000; count++) {
                harness.feed(quote, 1);
                Context context = harness.context();
                if (context.workingOrders() > 0) {
                    long order = context.workingOrderAt(0).id();
                    Fill fill = fills[context.workingOrderAt(0).side().ordinal()];
                    fill.orderId(order);
                    harness.feed(fill, 0);
                    ended.orderId(order);
                    harness.feed(ended, 0);
                }
            }
        });
        same(made, 0L);
        holds(harness.counters[13] > 50_000, "orders");
    }

    private void orders() {
        Harness harness = new Harness(new Strategy() {}, "depth", instrument(1));
        Context context = harness.context();
        long id = context.order(context.limit(Side.BUY, 1, 100 * Message.ONE, 30).iceberg(10));
        same(id, 1L << 48 | 1L << 32 | 1);
        NewOrder sent = (NewOrder) harness.requests.get(0);
        same(sent.displayLots() + " " + sent.quantity() + " " + sent.side(), "1 30 buy");
        same(context.workingQuantity(1, Side.BUY), 30L);
        same(context.order(context.limit(Side.BUY, 1, 100, 30).iceberg(15)), 0L);
        same(context.refusal(), Refusal.PART);
        same(context.order(context.limit(Side.BUY, 2, 100, 30)), 0L);
        same(context.refusal(), Refusal.UNKNOWN_INSTRUMENT);
        same(context.order(context.limit(Side.BUY, 1, Message.NO_PRICE, 30)), 0L);
        same(context.refusal(), Refusal.NO_PRICE);
        harness.isFull = true;
        same(context.order(context.limit(Side.BUY, 1, 100, 30)), 0L);
        same(context.refusal() + " " + harness.counters[2], Refusal.FULL + " 1");
        harness.isFull = false;
        harness.feed(fill(id, 1, Side.BUY, 100 * Message.ONE, 10), 0);
        same(context.position(1).quantity() + " " + context.position(1).cash(), "10 -1000000000");
        same(context.position(1).profit(101 * Message.ONE), 10_000_000L);
        same(context.workingQuantity(1, Side.BUY), 20L);
        holds(context.cancel(id) && context.cancel(id), "cancel");
        same(harness.requests.size(), 2);
        harness.feed(update(id, 1, Side.BUY, OrderStatus.CANCELLED), 0);
        same(context.workingOrders() + " " + context.workingQuantity(1, Side.BUY), "0 0");
        same(context.cancel(id), false);
    }

    private void sides() {
        Harness harness = new Harness(new Strategy() {}, "depth", instrument(1));
        Context context = harness.context();
        same(context.order(context.limit(null, 1, 100, 30)), 0L);
        same(context.refusal(), Refusal.SIDE);
        same(context.workingQuantity(1, null), 0L);
        same(harness.requests.size() + " " + context.workingOrders(), "0 0");
        // Of both sides.
        holds(context.cancelAll(0, null, -1) != 0, "cancel all");
    }

    /** What the action logs. */
    private static String logged(Runnable action) {
        PrintStream standard = System.err;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            action.run();
        } finally {
            System.setErr(standard);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private void stops() throws IOException {
        for (boolean ordered : new boolean[] {false, true}) {
            same(stopped(40, 30, 20, true, ordered, 2), true);
        }
        // One that has not started takes nothing.
        same(stopped(2, 1_000, 0, false, false, 0), true);
        same(stopped(100, 100_000, 0, true, false, 100), false);
    }

    /** Whether it says that bytes are unread. */
    private static boolean stopped(int frames, long drain, long each, boolean accepts, boolean ordered, int most) throws IOException {
        Path folder = files(SMALL);
        Registry registry = registry(folder);
        Writer writer = open(folder, Journal.Access.WRITE).writer(0, Clock.monotonic(), registry);
        Runnable write = () -> {
            for (int number = 0; number < frames; number++) {
                holds(writer.write(1, 0, new byte[8], 0, 8), "full");
            }
        };
        int[] seen = new int[1];
        String log = logged(() -> seen[0] = Stops.seen(registry, open(folder, Journal.Access.READ), write, drain, each, accepts, ordered));
        holds(seen[0] <= most, seen[0] + " frames");
        String said = " WARN  colo.node] stops with " + 64 * (frames - seen[0]) + " bytes of `t` unread\n";
        holds(log.endsWith(said) || frames == seen[0] && log.isEmpty(), log);
        return !log.isEmpty();
    }

    private void lines() {
        String line = logged(() -> Log.ERROR.line("colo.strategy", "why"));
        holds(line.matches("\\[\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z ERROR colo\\.strategy\\] why\n"), line);
    }

    private void timers() {
        StringBuilder fired = new StringBuilder();
        Harness harness = new Harness(new Strategy() {
            @Override
            public void timer(Context context, long timer, long key, long due) {
                fired.append(key).append(' ');
                if (key == 1) {
                    context.setTimer(0, 9);
                }
            }
        }, "depth");
        harness.context().setTimer(200, 2);
        harness.context().setTimer(100, 1);
        long cancelled = harness.context().setTimer(150, 7);
        harness.context().setTimer(200, 3);
        holds(harness.context().cancelTimer(cancelled) && !harness.context().cancelTimer(cancelled), "cancel");
        harness.advance(50);
        same(fired.toString(), "");
        harness.advance(500);
        same(fired.toString(), "1 2 3 ");
        harness.advance(0);
        same(fired.toString(), "1 2 3 9 ");
    }
}
