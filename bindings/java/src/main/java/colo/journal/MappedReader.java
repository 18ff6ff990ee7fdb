package colo.journal;

import colo.journal.JournalException.Code;
import colo.layout.Journals;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Reads a journal loosely and by polling, from JDK 17 on: it leaves no trace, and the writer does not know of it. Rings of more
 * than 1 GiB are mapped in windows. For all else there is {@code Journal}, from JDK 22 on.
 *
 * <p>For one thread.
 */
public final class MappedReader {
    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    /** Largest frame: windows reach so far into the next one. */
    private static final int OVERLAP = 2 << 20;

    private final Header header;
    private final ByteBuffer control;
    private final ByteBuffer[] windows;
    private final int windowShift;
    private final long capacity;
    private final long mask;
    private final byte[] copy;
    private long position;
    private long gapFrom;
    private long lost;

    private MappedReader(Header header, ByteBuffer control, ByteBuffer[] windows, int windowShift) {
        this.header = header;
        this.control = control;
        this.windows = windows;
        this.windowShift = windowShift;
        this.capacity = header.capacity();
        this.mask = capacity - 1;
        this.copy = new byte[header.maxPayload()];
    }

    /** Maps the journal NAME in a folder, and begins at its head. */
    public static MappedReader open(Path folder, String name) {
        return open(folder.resolve(name + ".ctl"), folder.resolve(name + ".ring"), 30);
    }

    /** Windows have 2^windowShift bytes. */
    static MappedReader open(Path controlFile, Path ringFile, int windowShift) {
        try (FileChannel page = FileChannel.open(controlFile, StandardOpenOption.READ)) {
            long size = page.size();
            if (size > 1 << 30) {
                throw new JournalException(Code.FOREIGN, controlFile.toString(), "its control file has " + size + " bytes");
            }
            MappedByteBuffer control = page.map(FileChannel.MapMode.READ_ONLY, 0, size);
            Header header = Header.check(controlFile.toString(), size, at -> (long) LONG.getAcquire(control, at));
            header.checkPositions((long) LONG.getAcquire(control, Journals.CONTROL_INTENT),
                (long) LONG.getAcquire(control, Journals.CONTROL_HEAD), (long) LONG.getAcquire(control, Journals.CONTROL_INTENT));
            ByteBuffer[] windows = map(header, ringFile, windowShift);
            // The ring is open: does the name still belong to this page?
            try (FileChannel now = FileChannel.open(controlFile, StandardOpenOption.READ)) {
                ByteBuffer word = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
                if (now.read(word, Journals.CONTROL_IDENTITY) != 8 || word.getLong(0) != header.identity()) {
                    throw new JournalException(Code.REPLACED, header.name(), ringFile.toString());
                }
            }
            MappedReader reader = new MappedReader(header, control, windows, windowShift);
            reader.position = reader.head();
            return reader;
        } catch (IOException error) {
            throw new UncheckedIOException(error.getMessage(), error);
        }
    }

    private static ByteBuffer[] map(Header header, Path ringFile, int windowShift) throws IOException {
        try (FileChannel ring = FileChannel.open(ringFile, StandardOpenOption.READ)) {
            if (ring.size() != header.capacity()) {
                throw new JournalException(Code.DAMAGED, header.name(),
                    "its ring has " + ring.size() + " bytes and should have " + header.capacity());
            }
            long window = 1L << windowShift;
            int count = (int) ((header.capacity() + window - 1) >>> windowShift);
            ByteBuffer[] windows = new ByteBuffer[count];
            for (int index = 0; index < count; index++) {
                long from = index * window;
                long bytes = Math.min(window + OVERLAP, header.capacity() - from);
                windows[index] = ring.map(FileChannel.MapMode.READ_ONLY, from, bytes);
            }
            return windows;
        }
    }

    private long word(int at) {
        return (long) LONG.getAcquire(control, at);
    }

    /** The next frame, copied. */
    public Read next(Frame frame) {
        while (true) {
            long at = position & mask;
            ByteBuffer window = windows[(int) (at >>> windowShift)];
            int index = (int) (at & (1L << windowShift) - 1);
            long commit = (long) LONG.getAcquire(window, index);
            if (commit != position) {
                if (isLapped()) {
                    return resume();
                }
                if (commit == 0) {
                    return Read.NOTHING;
                }
                throw new JournalException(Code.DAMAGED, header.name(), "the commit word at " + position + " is " + commit);
            }
            long shape = (long) LONG.getOpaque(window, index + Journals.FRAME_LENGTH);
            long time = (long) LONG.getOpaque(window, index + Journals.FRAME_TIME);
            long origin = (long) LONG.getOpaque(window, index + Journals.FRAME_TOPIC);
            long length = shape & 0xffff_ffffL;
            if (length > copy.length) {
                VarHandle.acquireFence();
                if (isLapped()) {
                    return resume();
                }
                throw new JournalException(Code.DAMAGED, header.name(), "the frame at " + position + " claims " + length + " bytes");
            }
            boolean wanted = (shape >>> 48 & Journals.FRAME_VOID) == 0;
            if (wanted) {
                load(window, index + Journals.FRAME_PAYLOAD, (int) length);
            }
            VarHandle.acquireFence();
            if (isLapped()) {
                return resume();
            }
            frame.position = position;
            position += Header.frameBytes(length);
            if (wanted) {
                frame.shape = shape;
                frame.time = time;
                frame.origin = origin;
                frame.payload = copy;
                return Read.FRAME;
            }
        }
    }

    private void load(ByteBuffer window, int from, int length) {
        int here = Math.min(length, window.capacity() - from);
        window.get(from, copy, 0, here);
        if (here < length) {
            // The ring's end: the rest is at its start.
            windows[0].get(0, copy, here, length - here);
        }
    }

    private boolean isLapped() {
        return word(Journals.CONTROL_INTENT) - capacity > position;
    }

    private Read resume() {
        header.checkPositions(word(Journals.CONTROL_INTENT), head(), word(Journals.CONTROL_INTENT));
        long head = head();
        if (head <= position) {
            throw new JournalException(Code.DAMAGED, header.name(), "its intent is ahead of " + position + ", its head " + head + " is not");
        }
        gapFrom = position;
        lost += head - position;
        position = head;
        return Read.GAP;
    }

    /** Goes to a position that is known to start a frame. */
    public void seek(long to) {
        if (to % Journals.LINE_BYTES != 0 || to < header.first() || to > head()) {
            throw new JournalException(Code.NO_SUCH_POSITION, header.name(), to + " is not between " + header.first() + " and " + head());
        }
        position = to;
    }

    /** A position near the oldest frame that is still there. */
    public long oldest() {
        long oldest = head();
        long[] marks = new long[Journals.CONTROL_MARK_COUNT];
        for (int index = 0; index < marks.length; index++) {
            marks[index] = word(Journals.CONTROL_MARKS + index * 8);
        }
        long from = Math.max(header.first(), word(Journals.CONTROL_INTENT) - capacity);
        for (long mark : marks) {
            if (mark % Journals.LINE_BYTES == 0 && mark >= from && mark < oldest) {
                long at = mark & mask;
                if ((long) LONG.getAcquire(windows[(int) (at >>> windowShift)], (int) (at & (1L << windowShift) - 1)) == mark) {
                    oldest = mark;
                }
            }
        }
        return oldest;
    }

    public String name() {
        return header.name();
    }

    public long first() {
        return header.first();
    }

    public long head() {
        return word(Journals.CONTROL_HEAD);
    }

    /** How many writers there were. */
    public long epoch() {
        return word(Journals.CONTROL_EPOCH);
    }

    /** Position of the next frame. */
    public long position() {
        return position;
    }

    /** After {@link Read#GAP}: the first position that is lost; {@link #position} is where reading goes on. */
    public long gapFrom() {
        return gapFrom;
    }

    /** Bytes that were lost so far. */
    public long lost() {
        return lost;
    }
}
