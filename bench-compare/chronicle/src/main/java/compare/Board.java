package compare;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Where the roles of a block meet: the pages of {@code src/board.rs}, with its words. */
final class Board {
    static final int STEP = 0;
    static final int BOUNCE = 1;
    static final int COUNT = 2;
    static final int BEGUN = 4;
    static final int FIRST = 5;
    static final int GENERATION = 6;
    static final int HEARD = 7;
    static final int TORN = 8;
    static final int GAPS = 9;
    static final int LAST = 10;
    static final int SILENCE = 11;
    static final int KILLED = 12;
    static final int END = 13;
    static final int HELD = 14;

    /** Longest wait for the others at a step: eighty JVMs start on few cores. */
    private static final long PATIENCE_NANOS = 100_000_000_000L;
    private static final VarHandle LONG =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final int role;
    private final MappedByteBuffer[] pages;
    /** Bytes from one word to the next. */
    private final int stride;

    Board(Path room, int role, int roles, int words) throws IOException {
        this.role = role;
        pages = new MappedByteBuffer[roles + 1];
        for (int page = 0; page <= roles; page++) {
            Path path = room.resolve("board-" + page);
            try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                pages[page] = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size());
            }
        }
        stride = pages[0].capacity() / words;
    }

    long get(int role, int word) {
        return (long) LONG.getAcquire(pages[role], word * stride);
    }

    long driver(int word) {
        return get(pages.length - 1, word);
    }

    void set(int word, long value) {
        LONG.setRelease(pages[role], word * stride, value);
    }

    /** Waits until every role has come to {@code step}. */
    void meet(long step) throws InterruptedException {
        set(STEP, step);
        for (int other = 0; other < pages.length - 1; other++) {
            await(other, step);
        }
    }

    void await(int other, long step) throws InterruptedException {
        long begin = System.nanoTime();
        while (get(other, STEP) < step) {
            Thread.sleep(1);
            if (System.nanoTime() - begin > PATIENCE_NANOS) {
                throw new IllegalStateException("role " + other + " does not come to step " + step);
            }
        }
    }
}
