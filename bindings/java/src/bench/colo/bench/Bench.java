package colo.bench;

import colo.journal.Clock;
import colo.journal.Frame;
import colo.journal.Journal;
import colo.journal.LooseReader;
import colo.journal.MappedReader;
import colo.journal.Read;
import colo.journal.Writer;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;

/** Times reading and writing a journal: FOLDER NAME BYTES, of a journal that nobody else writes. */
public final class Bench {
    private static final int BLOCKS = 60;

    private Bench() {}

    public static void main(String[] arguments) {
        Path folder = Path.of(arguments[0]);
        int length = Integer.parseInt(arguments[2]);
        Journal journal = Journal.open(folder, arguments[1], Journal.Access.WRITE);
        try (Writer writer = journal.writer(0, Clock.monotonic(), null)) {
            LooseReader reader = journal.loose(journal.head());
            MappedReader mapped = MappedReader.open(folder, arguments[1]);
            int frames = (int) (journal.capacity() / (32 + length + 63 & -64) / 2);
            byte[] payload = new byte[length];
            double[][] times = new double[3][BLOCKS];
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long made = 0;
            for (int block = -BLOCKS; block < BLOCKS; block++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                double written = write(writer, payload, frames);
                double read = read(reader, frames);
                double readMapped = read(mapped, frames);
                if (block >= 0) {
                    made += threads.getCurrentThreadAllocatedBytes() - before;
                    times[0][block] = read;
                    times[1][block] = readMapped;
                    times[2][block] = written;
                }
            }
            Arrays.stream(times).forEach(Arrays::sort);
            System.out.printf("java %d: read p50 %.1f best %.1f, mapped (17) p50 %.1f best %.1f, write p50 %.1f best %.1f ns; %.4f bytes allocated a message%n",
                length, times[0][BLOCKS / 2], times[0][0], times[1][BLOCKS / 2], times[1][0], times[2][BLOCKS / 2], times[2][0],
                made / (3.0 * BLOCKS * frames));
        }
    }

    private static double write(Writer writer, byte[] payload, int frames) {
        long begun = System.nanoTime();
        for (int frame = 0; frame < frames; frame++) {
            if (!writer.write(1, 2, payload, 0, payload.length)) {
                throw new IllegalStateException("the journal is full");
            }
        }
        return (double) (System.nanoTime() - begun) / frames;
    }

    private static double read(LooseReader reader, int frames) {
        Frame frame = new Frame();
        long sum = 0;
        long begun = System.nanoTime();
        for (int count = 0; count < frames; count++) {
            if (reader.next(frame) != Read.FRAME) {
                throw new IllegalStateException("no frame");
            }
            sum += frame.payload()[0];
        }
        return (double) (System.nanoTime() - begun) / frames + (sum == -1 ? 1 : 0);
    }

    private static double read(MappedReader reader, int frames) {
        Frame frame = new Frame();
        long sum = 0;
        long begun = System.nanoTime();
        for (int count = 0; count < frames; count++) {
            if (reader.next(frame) != Read.FRAME) {
                throw new IllegalStateException("no frame");
            }
            sum += frame.payload()[0];
        }
        return (double) (System.nanoTime() - begun) / frames + (sum == -1 ? 1 : 0);
    }
}
