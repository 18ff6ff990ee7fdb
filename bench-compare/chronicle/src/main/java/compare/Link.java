package compare;

import java.nio.file.Path;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.bytes.BytesStore;
import net.openhft.chronicle.core.OS;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.RollCycles;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;

/** One end of one direction: a queue in the block's folder, with an appender or a tailer. */
final class Link {
    private static final long PAGE = 4096;
    /** The message that makes the ends known to each other. */
    private static final long HELLO = -2;

    private final ExcerptAppender appender;
    private final ExcerptTailer tailer;
    /** The message in hand: every byte of it copied in or out. */
    final Bytes<Void> message;
    private final int payload;

    private Link(ExcerptAppender appender, ExcerptTailer tailer, int payload) {
        this.appender = appender;
        this.tailer = tailer;
        this.payload = payload;
        message = Bytes.allocateDirect(payload);
        for (int at = 0; at < payload; at += 8) {
            message.writeLong(0x5a5a5a5a5a5a5a5aL);
        }
    }

    private static ChronicleQueue queue(Task task, int number) {
        Path path = task.room().resolve("chronicle-" + number);
        return SingleChronicleQueueBuilder.binary(path)
                .rollCycle(RollCycles.FAST_DAILY)
                .blockSize(task.blockSize())
                .build();
    }

    static Link sender(Task task, int number) {
        return new Link(queue(task, number).createAppender(), null, task.payload());
    }

    static Link receiver(Task task, int number) {
        return new Link(null, queue(task, number).createTailer().toStart(), task.payload());
    }

    long get(int index) {
        return message.readLong(8L * index);
    }

    void put(int index, long value) {
        message.writeLong(8L * index, value);
    }

    /** Appends the message in hand. */
    void send() {
        try (DocumentContext document = appender.writingDocument()) {
            document.wire().bytes().write(message, 0L, payload);
        }
    }

    /** True when there was a message; it is in hand then. */
    boolean receive() {
        try (DocumentContext document = tailer.readingDocument()) {
            if (!document.isPresent()) {
                return false;
            }
            Bytes<?> bytes = document.wire().bytes();
            message.write(0L, bytes, bytes.readPosition(), payload);
            return true;
        }
    }

    /** A first message, so that the file is there; then every page of its mapping is touched. */
    void sayHello() {
        put(0, HELLO);
        send();
        touch(appender.wire().bytes(), true);
    }

    /** The first message; then every page of the mapping is touched. */
    void hearHello() {
        while (true) {
            try (DocumentContext document = tailer.readingDocument()) {
                if (document.isPresent()) {
                    touch(document.wire().bytes(), false);
                    return;
                }
            }
        }
    }

    /** What the pretoucher of the paid edition does ahead of the writer. */
    private static void touch(Bytes<?> bytes, boolean writes) {
        BytesStore<?, ?> store = bytes.bytesStore();
        for (long at = store.start(); at < store.safeLimit(); at += PAGE) {
            long address = store.addressForRead(at);
            if (writes) {
                OS.memory().compareAndSwapLong(address, 0, 0);
            } else {
                OS.memory().readVolatileLong(address);
            }
        }
    }
}
