package colo.driver;

import colo.journal.Clock;
import colo.journal.Frame;
import colo.journal.Frames;
import colo.journal.GatedReader;
import colo.journal.Journal;
import colo.journal.JournalException;
import colo.journal.JournalException.Code;
import colo.journal.Native;
import colo.journal.Read;
import colo.journal.Reader;
import colo.journal.Registry;
import colo.journal.Writer;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/** Does with a journal what it is told on its standard input: bindings/conformance/README.md. */
public final class Driver {
    private static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1;

        Failure(String text) {
            super(text);
        }
    }

    private final PrintWriter out = new PrintWriter(new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8)));
    private final Frame frame = new Frame();
    private Registry registry;
    private Path folder;
    private String name;
    private Journal page;
    private Journal used;
    private Writer writer;
    private Reader reader;
    private GatedReader gated;
    private int seat = -1;
    private boolean half;

    public static void main(String[] arguments) throws IOException {
        new Driver().serve();
    }

    private void serve() throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        boolean ends = false;
        while (!ends) {
            String line = lines.readLine();
            if (line == null) {
                break;
            }
            String[] words = line.trim().split(" +");
            if (words[0].isEmpty()) {
                continue;
            }
            ends = words[0].equals("quit");
            try {
                String answer = perform(words[0], Arrays.copyOfRange(words, 1, words.length));
                out.print(answer.isEmpty() ? "ok\n" : "ok " + answer + "\n");
            } catch (JournalException error) {
                out.print("error " + error.code() + " " + error.getMessage().replace('\n', ' ') + "\n");
            } catch (Failure error) {
                out.print("error usage " + error.getMessage() + "\n");
            }
            out.flush();
        }
        if (reader != null) {
            reader.close();
        }
        if (writer != null && !half) {
            writer.close();
        }
    }

    private String perform(String command, String[] words) {
        if (command.equals("kill")) {
            out.flush();
            Native.killSelf();
        }
        if (half && !command.equals("quit")) {
            throw new Failure("it waits for `kill`");
        }
        switch (command) {
            case "hello" -> {
                return "java 1 write batch records skip half loose gate keep park oldest";
            }
            case "quit" -> {
                return "";
            }
            case "registry" -> {
                demand(words.length == 1 && page == null, "registry PATH, before open");
                registry = Registry.open(Path.of(words[0]));
                return "";
            }
            case "open" -> {
                demand(words.length == 2 && page == null, "open FOLDER NAME, once");
                folder = Path.of(words[0]);
                name = words[1];
                page = Journal.open(folder, name, Journal.Access.OBSERVE);
                return Long.toUnsignedString(page.identity()) + " " + page.head();
            }
            default -> demand(page != null, "`open` comes first");
        }
        return switch (command) {
            case "state" -> page.epoch() + " " + page.writerState().toString().toLowerCase(Locale.ROOT) + " " + page.head();
            case "writer" -> attach(words);
            case "write", "batch", "records", "half", "skip" -> {
                demand(writer != null, "`writer` comes first");
                yield write(command, words);
            }
            case "loose", "gate" -> read(command, words);
            case "next", "keep", "interest", "park" -> {
                demand(reader != null, "`loose` or `gate` comes first");
                yield follow(command, words);
            }
            default -> throw new Failure("unknown command `" + command + "`");
        };
    }

    private static void demand(boolean holds, String text) {
        if (!holds) {
            throw new Failure(text);
        }
    }

    private static long number(String word) {
        try {
            return Long.parseUnsignedLong(word);
        } catch (NumberFormatException error) {
            throw new Failure("`" + word + "` is no number");
        }
    }

    private static int small(String word) {
        return (int) Math.min(Integer.MAX_VALUE, Math.max(0, number(word)));
    }

    private void use(Journal.Access access) {
        demand(used == null, "it is a reader or writer already");
        Journal opened = Journal.open(folder, name, access);
        if (opened.identity() != page.identity()) {
            throw new JournalException(Code.REPLACED, name, folder.toString());
        }
        used = opened;
    }

    private String attach(String[] words) {
        demand(words.length == 1, "writer SEAT");
        int number = small(words[0]);
        use(Journal.Access.WRITE);
        try {
            writer = used.writer(number, registry == null ? Clock.monotonic() : registry.clock(), registry);
        } catch (JournalException error) {
            used = null;
            throw error;
        }
        return writer.epoch() + " " + writer.position();
    }

    private byte[] contents(int length, long seed, boolean forged, long at) {
        byte[] payload = new byte[length];
        for (int i = 0; i < length && !forged; i++) {
            payload[i] = (byte) (seed * 167 + i * 31L + (i >> 8) * 13L);
        }
        ByteBuffer words = ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; forged && i + 8 <= length; i += 8) {
            words.putLong(i, at + i + used.capacity());
        }
        return payload;
    }

    private static String checksum(byte[] bytes, int from, int length) {
        long hash = 0xcbf29ce484222325L;
        for (int i = from; i < from + length; i++) {
            hash = (hash ^ bytes[i] & 0xff) * 0x100000001b3L;
        }
        return String.format("%016x", hash);
    }

    private void say(Frame said) {
        out.printf("frame %d %d %d %d %s %d %d %s%n", said.position(), said.id(), said.topic(), said.flags(),
            Long.toUnsignedString(said.time()), said.epoch() & 0xffff_ffffL, said.length(), checksum(said.payload(), 0, said.length()));
        int size = said.recordSize();
        for (int record = 0; size > 0 && record < said.records(); record++) {
            out.printf("record %d %d %s%n", said.recordPosition(record), size, checksum(said.payload(), record * size, size));
        }
    }

    private void say(long position, int id, int flags, int topic, byte[] payload) {
        Frames.fill(frame, position, writer.time(), id, flags, topic, (int) writer.epoch(), payload, payload.length);
        say(frame);
    }

    private String write(String command, String[] words) {
        if (command.equals("skip")) {
            demand(words.length == 1, "skip BYTES");
            if (!writer.skipTo(writer.position() + number(words[0]))) {
                throw full();
            }
            return Long.toString(writer.position());
        }
        String kind = command;
        String[] rest = words;
        if (command.equals("half")) {
            demand(words.length > 0 && (words[0].equals("frame") || words[0].equals("batch")), "half frame or half batch");
            kind = words[0];
            rest = Arrays.copyOfRange(words, 1, words.length);
        }
        int most = kind.equals("write") ? 6 : kind.equals("frame") ? 4 : 5;
        demand(rest.length >= 4 && rest.length <= most, "4 to " + most + " words are needed");
        boolean forged = rest[3].equals("forged");
        int id = small(rest[0]);
        int topic = small(rest[1]);
        int length = small(rest[2]);
        long seed = forged ? 0 : number(rest[3]);
        long count = rest.length > 4 ? number(rest[4]) : 1;
        demand(id <= 0xffff, "an id has 16 bits");
        int bytes = Math.min(length, used.maxPayload() + 1);
        return switch (command) {
            case "write" -> frames(id, topic, bytes, seed, forged, count, rest.length > 5 ? number(rest[5]) : 0);
            case "records" -> records(id, topic, length, seed, count);
            default -> several(command.equals("half"), id, topic, bytes, seed, forged, count);
        };
    }

    private JournalException full() {
        return new JournalException(Code.FULL, name, "a reader holds it up");
    }

    private static void pause() {
        LockSupport.parkNanos(20_000);
    }

    private String frames(int id, int topic, int length, long seed, boolean forged, long count, long patience) {
        long until = System.nanoTime() + patience * 1_000_000;
        for (long done = 0; done < count; done++) {
            byte[] payload = contents(length, seed + done, forged, writer.position() + 32);
            long position = writer.position();
            while (!writer.write(id, topic, payload, 0, length)) {
                if (System.nanoTime() >= until) {
                    throw full();
                }
                pause();
            }
            say(position, id, 0, topic, payload);
        }
        return count + " " + writer.position();
    }

    private String several(boolean stops, int id, int topic, int length, long seed, boolean forged, long count) {
        try {
            return batch(stops, id, topic, length, seed, forged, count);
        } catch (JournalException error) {
            writer.abandonBatch();
            throw error;
        }
    }

    private String batch(boolean stops, int id, int topic, int length, long seed, boolean forged, long count) {
        writer.beginBatch();
        java.util.List<byte[]> payloads = new java.util.ArrayList<>();
        java.util.List<Long> positions = new java.util.ArrayList<>();
        long at = writer.position();
        for (long number = 0; number < count; number++) {
            byte[] payload = contents(length, seed + number, forged, at + 32);
            long position = writer.push(id, topic, payload, 0, length);
            if (position == 0) {
                throw full();
            }
            payloads.add(payload);
            positions.add(position);
            at = position + (32L + length + 63 & -64L);
        }
        if (stops) {
            half = true;
            return Long.toString(writer.stageBatch());
        }
        writer.commitBatch();
        for (int index = 0; index < payloads.size(); index++) {
            say(positions.get(index), id, 0, topic, payloads.get(index));
        }
        return count + " " + writer.position();
    }

    private String records(int id, int topic, int size, long seed, long count) {
        if ((long) size * count > 1 << 24) {
            throw new JournalException(Code.BATCH_FULL, name, count + " records of " + size + " bytes");
        }
        byte[] payload = new byte[(int) (size * count)];
        for (int record = 0; record < count; record++) {
            System.arraycopy(contents(size, seed + record, false, 0), 0, payload, record * size, size);
        }
        long position = writer.position();
        if (!writer.writeRecords(id, topic, size, payload, payload.length)) {
            throw full();
        }
        say(position, id, size, topic, payload);
        return "1 " + writer.position();
    }

    private String read(String command, String[] words) {
        try {
            if (command.equals("gate")) {
                demand(words.length == 1, "gate SEAT");
                use(Journal.Access.READ);
                seat = small(words[0]);
                gated = used.gated(seat);
                reader = gated;
                return Long.toString(reader.position());
            }
            demand(words.length == 2, "loose SEAT START");
            boolean observes = words[0].equals("-");
            int number = observes ? -1 : small(words[0]);
            use(observes ? Journal.Access.OBSERVE : Journal.Access.READ);
            long start = switch (words[1]) {
                case "head" -> used.head();
                case "first" -> used.first();
                case "oldest" -> used.oldest();
                default -> number(words[1]);
            };
            reader = observes ? used.loose(start) : used.loose(number, start);
            seat = number;
            return Long.toString(reader.position());
        } catch (JournalException error) {
            used = null;
            seat = -1;
            throw error;
        }
    }

    private String follow(String command, String[] words) {
        switch (command) {
            case "next" -> {
                demand(words.length <= 2, "next COUNT MS");
                return next(words.length > 0 ? number(words[0]) : 1, words.length > 1 ? number(words[1]) : 0);
            }
            case "keep" -> {
                demand(words.length == 1 && gated != null, "keep POSITION, of a gated reader");
                gated.keep(number(words[0]));
                return "";
            }
            case "interest" -> {
                demand(registry != null && seat >= 0, "interest needs a seat and a registry");
                int[] topics = words.length == 1 && words[0].equals("all") ? null : Arrays.stream(words).mapToInt(Driver::small).toArray();
                if (topics != null && Arrays.stream(topics).anyMatch(topic -> topic >= used.topics())) {
                    throw new JournalException(Code.NO_SUCH_TOPIC, name, "of " + used.topics());
                }
                used.setInterest(seat, topics);
                registry.announce();
                return "";
            }
            default -> {
                demand(words.length == 1 && registry != null && seat >= 0, "park MS, with a seat and a registry");
                if (seat >= registry.seats()) {
                    throw new JournalException(Code.NO_SUCH_SEAT, name, "seat " + seat);
                }
                return switch (registry.park(seat, number(words[0]) * 1_000_000, reader::hasNews)) {
                    case NOT_ASLEEP -> "news";
                    case WOKEN -> "woken";
                    default -> "timeout";
                };
            }
        }
    }

    private String next(long count, long patience) {
        long until = System.nanoTime() + patience * 1_000_000;
        long done = 0;
        boolean ends = false;
        while (done < count && !ends) {
            Read read = reader.next(frame);
            if (read == Read.FRAME) {
                say(frame);
                done++;
            } else if (read == Read.GAP) {
                out.printf("gap %d %d%n", reader.gapFrom(), reader.position());
            } else if (System.nanoTime() >= until) {
                ends = true;
            } else {
                pause();
            }
        }
        reader.release();
        return done + " " + reader.position();
    }
}
