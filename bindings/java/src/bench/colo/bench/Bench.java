package colo.bench;

import colo.journal.Frame;
import colo.journal.Journal;
import colo.journal.LooseReader;
import colo.journal.Read;
import colo.journal.Registry;
import colo.journal.Writer;
import com.sun.management.ThreadMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/** Reads, writes and sleeps as it is told on its standard input, and says how long it took: bindings/README.md. */
public final class Bench {
    /** Longest that a sleeper waits for a message. */
    private static final long PATIENCE = 20_000_000_000L;

    private static final long SAFETY_TIMEOUT = 100_000_000;
    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Bench() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null && !line.equals("quit"); line = lines.readLine()) {
            String answer;
            try {
                answer = "ok " + answer(line.split(" "));
            } catch (RuntimeException error) {
                answer = "error " + String.valueOf(error.getMessage()).replace('\n', ' ');
            }
            System.out.println(answer);
            System.out.flush();
        }
    }

    private static String answer(String[] words) {
        return switch (words[0] + " " + (words.length - 1)) {
            case "hello 0" -> "java 1 read write wake";
            case "read 3" -> read(Path.of(words[1]), words[2], Long.parseLong(words[3]));
            case "write 5" -> write(Path.of(words[1]), words[2], Path.of(words[3]), Long.parseLong(words[4]), Integer.parseInt(words[5]));
            case "wake 5" -> wake(Path.of(words[1]), words[2], Path.of(words[3]), Integer.parseInt(words[4]), Integer.parseInt(words[5]));
            default -> throw new IllegalArgumentException("there is no command `" + words[0] + "` with " + (words.length - 1) + " words");
        };
    }

    private static String read(Path folder, String name, long rounds) {
        long frames = 0;
        long sum = 0;
        long spent = 0;
        long made = 0;
        Frame frame = new Frame();
        try (Journal journal = Journal.open(folder, name, Journal.Access.OBSERVE)) {
            for (long round = 0; round < rounds; round++) {
                try (LooseReader reader = journal.loose(journal.first())) {
                    long before = THREADS.getCurrentThreadAllocatedBytes();
                    long begun = System.nanoTime();
                    long found = 0;
                    while (reader.next(frame) == Read.FRAME) {
                        found++;
                        sum += (long) WORD.get(frame.payload(), 0);
                    }
                    spent += System.nanoTime() - begun;
                    made += THREADS.getCurrentThreadAllocatedBytes() - before;
                    frames += found;
                }
            }
        }
        return frames + " " + spent + " " + Long.toUnsignedString(sum) + " " + made;
    }

    private static String write(Path folder, String name, Path registryPath, long count, int bytes) {
        byte[] payload = new byte[bytes];
        try (Journal journal = Journal.open(folder, name, Journal.Access.WRITE);
                Registry registry = Registry.open(registryPath);
                Writer writer = journal.writer(0, registry.clock(), registry)) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            long begun = System.nanoTime();
            for (long number = 0; number < count; number++) {
                if (!writer.write(1, 0, payload, 0, bytes)) {
                    throw new IllegalStateException("the journal is full");
                }
            }
            long spent = System.nanoTime() - begun;
            return count + " " + spent + " " + (THREADS.getCurrentThreadAllocatedBytes() - before);
        }
    }

    private static String wake(Path folder, String name, Path registryPath, int seat, int count) {
        long[] times = new long[count];
        Frame frame = new Frame();
        try (Journal journal = Journal.open(folder, name, Journal.Access.READ);
                Registry registry = Registry.open(registryPath);
                LooseReader reader = journal.loose(seat, journal.head())) {
            journal.setInterest(seat, null);
            registry.announce();
            System.out.println("ready");
            System.out.flush();
            BooleanSupplier hasNews = reader::hasNews;
            long last = System.nanoTime();
            for (int done = 0; done < count; ) {
                Read read = reader.next(frame);
                if (read == Read.FRAME) {
                    // CLOCK_MONOTONIC, as the writer's.
                    last = System.nanoTime();
                    times[done++] = last - (long) WORD.get(frame.payload(), 0);
                } else if (read == Read.GAP) {
                    throw new IllegalStateException("messages are lost");
                } else if (System.nanoTime() - last > PATIENCE) {
                    throw new IllegalStateException("no message came");
                } else {
                    registry.park(seat, SAFETY_TIMEOUT, hasNews);
                }
            }
            // Nobody is to be woken any more.
            journal.setInterest(seat, new int[0]);
        }
        StringBuilder text = new StringBuilder();
        for (long time : times) {
            text.append(text.isEmpty() ? "" : " ").append(time);
        }
        return text.toString();
    }
}
