package colo.journal;

import colo.journal.JournalException.Code;
import colo.layout.Journals;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A journal that is mapped: by JDK 22 and newer. It, its readers and its writer are for one thread. */
public final class Journal implements AutoCloseable {
    /** What it is opened for. */
    public enum Access {
        /** Leaves no trace. */
        OBSERVE,
        /** Has a seat's cursor. */
        READ,
        /** Is for its one writer. */
        WRITE
    }

    /** How its writer is. */
    public enum WriterState {
        NONE,
        ATTACHED,
        CLOSED,
        /** Attached, and its process has ended. */
        DEAD
    }

    final Header header;
    final MemorySegment control;
    final MemorySegment ring;
    final long capacity;
    final long mask;
    private final Access access;
    private final Path lockFile;
    private final Arena arena;

    private Journal(Header header, MemorySegment control, MemorySegment ring, Access access, Path lockFile, Arena arena) {
        this.header = header;
        this.control = control;
        this.ring = ring;
        this.capacity = header.capacity();
        this.mask = capacity - 1;
        this.access = access;
        this.lockFile = lockFile;
        this.arena = arena;
    }

    /** Maps the journal NAME in a folder, after it has checked it. */
    public static Journal open(Path folder, String name, Access access) {
        return open(folder.resolve(name + ".ctl"), folder.resolve(name + ".ring"), folder.resolve(name + ".lock"), access);
    }

    public static Journal open(Path controlFile, Path ringFile, Path lockFile, Access access) {
        Arena arena = Arena.ofShared();
        try {
            boolean writable = access != Access.OBSERVE;
            long size = size(controlFile);
            if (size < Journals.CONTROL_CURSORS) {
                throw new JournalException(Code.DAMAGED, controlFile.toString(), "its control file has " + size + " bytes");
            }
            MemorySegment control = map(controlFile, size, 4096, 1, writable, arena);
            Header header = Header.check(controlFile.toString(), size, at -> Words.acquire(control, at));
            header.checkPositions(Words.acquire(control, Journals.CONTROL_INTENT), Words.acquire(control, Journals.CONTROL_HEAD),
                Words.acquire(control, Journals.CONTROL_INTENT));
            long bytes = size(ringFile);
            if (bytes != header.capacity()) {
                throw new JournalException(Code.DAMAGED, header.name(),
                    "its ring has " + bytes + " bytes and should have " + header.capacity());
            }
            MemorySegment ring = map(ringFile, bytes, header.page(), 2, access == Access.WRITE, arena);
            // The ring is open: does the name still belong to this page?
            if (wordOf(controlFile, Journals.CONTROL_IDENTITY) != header.identity()) {
                throw new JournalException(Code.REPLACED, header.name(), ringFile.toString());
            }
            return new Journal(header, control, ring, access, lockFile, arena);
        } catch (RuntimeException error) {
            arena.close();
            throw error;
        }
    }

    static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException error) {
            throw new JournalException(Code.IO, file.toString(), error.toString());
        }
    }

    static MemorySegment map(Path path, long size, long page, int times, boolean writable, Arena arena) {
        int file = Native.open(path.toString(), writable);
        if (file < 0) {
            throw new JournalException(Code.IO, path.toString(), "open: error " + Native.errno());
        }
        MemorySegment mapped = Native.map(file, size, page, times, writable, arena);
        int errno = Native.errno();
        Native.close(file);
        if (mapped == null) {
            throw new JournalException(Code.IO, path.toString(), "mapping " + size + " bytes: error " + errno);
        }
        return mapped;
    }

    private static long wordOf(Path path, long at) {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            ByteBuffer word = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
            return file.read(word, at) == 8 ? word.getLong(0) : 0;
        } catch (IOException error) {
            throw new JournalException(Code.IO, path.toString(), error.toString());
        }
    }

    /** Takes the lock on a byte of the lock file; the descriptor holds it. */
    int lease(long at, Code held) {
        demand(Access.READ);
        int file = Native.open(lockFile.toString(), true);
        if (file < 0) {
            throw new JournalException(Code.IO, lockFile.toString(), "open: error " + Native.errno());
        }
        if (wordOf(lockFile, Journals.LOCK_MAGIC) != Journals.LOCK_MAGIC_WORD
            || wordOf(lockFile, Journals.LOCK_IDENTITY) != header.identity()) {
            Native.close(file);
            throw refuse(Code.REPLACED, lockFile.toString());
        }
        int errno = Native.lockByte(file, at);
        if (errno != 0) {
            Native.close(file);
            boolean isHeld = errno == Native.EAGAIN || errno == Native.EACCES;
            throw refuse(isHeld ? held : Code.IO, "byte " + at + " of " + lockFile + ": error " + errno);
        }
        return file;
    }

    void demand(Access least) {
        if (access.compareTo(least) < 0) {
            throw refuse(Code.READ_ONLY, "open it with the access that is needed");
        }
    }

    void checkSeat(int seat) {
        demand(Access.READ);
        if (seat < 0 || seat >= header.seats()) {
            throw refuse(Code.NO_SUCH_SEAT, "seat " + seat + " of " + header.seats());
        }
    }

    JournalException refuse(Code code, String detail) {
        return new JournalException(code, header.name(), detail);
    }

    long commit(long position) {
        return Words.acquire(ring, position & mask);
    }

    long word(long at) {
        return Words.acquire(control, at);
    }

    void check() {
        header.checkPositions(word(Journals.CONTROL_INTENT), head(), word(Journals.CONTROL_INTENT));
    }

    /** Gives the memory back. Nothing that was made of it is used afterwards. */
    @Override
    public void close() {
        arena.close();
    }

    public String name() {
        return header.name();
    }

    /** Its number in its instance. */
    public int id() {
        return header.id();
    }

    public long identity() {
        return header.identity();
    }

    public long capacity() {
        return capacity;
    }

    public int maxPayload() {
        return header.maxPayload();
    }

    public int topics() {
        return header.topics();
    }

    /** Position of the first frame. */
    public long first() {
        return header.first();
    }

    /** End of the committed frames. */
    public long head() {
        return word(Journals.CONTROL_HEAD);
    }

    /** How many writers have attached. */
    public long epoch() {
        return word(Journals.CONTROL_EPOCH);
    }

    /** End of what is on disk; 0 if nobody writes it there. */
    public long durable() {
        long least = Long.MAX_VALUE;
        boolean any = false;
        for (int at = 0; at < header.seats() / 64; at++) {
            for (long seats = word(Journals.CONTROL_DURABLE + at * 8L); seats != 0; seats &= seats - 1) {
                long cursor = Header.cursor(at * 64 + Long.numberOfTrailingZeros(seats));
                least = Math.min(least, word(cursor + Journals.CURSOR_KEPT));
                any = true;
            }
        }
        return any ? least : 0;
    }

    /** A position near the oldest frame that is still there. */
    public long oldest() {
        long oldest = head();
        long[] marks = new long[Journals.CONTROL_MARK_COUNT];
        for (int index = 0; index < marks.length; index++) {
            marks[index] = word(Journals.CONTROL_MARKS + index * 8L);
        }
        long from = Math.max(first(), word(Journals.CONTROL_INTENT) - capacity);
        for (long mark : marks) {
            if (mark % Journals.LINE_BYTES == 0 && mark >= from && mark < oldest && commit(mark) == mark) {
                oldest = mark;
            }
        }
        return oldest;
    }

    /** How the writer is. It reads /proc: ask when idle. */
    public WriterState writerState() {
        long state = word(Journals.CONTROL_WRITER_STATE);
        int process = (int) word(Journals.CONTROL_WRITER);
        long start = word(Journals.CONTROL_WRITER_START);
        if (state == 0) {
            return WriterState.NONE;
        }
        if (state != 1) {
            return WriterState.CLOSED;
        }
        return startOf(process) == start ? WriterState.ATTACHED : WriterState.DEAD;
    }

    /** Start of a process: with its id it identifies one for ever. 0 if it has ended. */
    static long startOf(long process) {
        try {
            String text = Files.readString(Path.of("/proc/" + process + "/stat"), java.nio.charset.StandardCharsets.ISO_8859_1);
            // The name may hold anything: fields are counted from behind its bracket.
            String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ");
            return fields[0].equals("Z") || fields[0].equals("X") ? 0 : Long.parseLong(fields[19]);
        } catch (IOException error) {
            return 0;
        }
    }

    /** Has frames of these topics wake the seat, and no others; null: all. Announce it afterwards. */
    public void setInterest(int seat, int[] topics) {
        checkSeat(seat);
        boolean[] wanted = new boolean[header.topics()];
        java.util.Arrays.fill(wanted, topics == null);
        if (topics != null) {
            for (int topic : topics) {
                if (topic >= 0 && topic < wanted.length) {
                    wanted[topic] = true;
                }
            }
        }
        for (int topic = 0; topic < wanted.length; topic++) {
            setBit(header.interest(topic), seat, wanted[topic]);
        }
    }

    /** Has the seat woken when more is on disk. */
    public void setDurableInterest(int seat, boolean wants) {
        checkSeat(seat);
        setBit(Journals.CONTROL_DURABLE_WAITERS, seat, wants);
    }

    private void setBit(long row, int seat, boolean wants) {
        long at = row + seat / 64 * 8L;
        if ((word(at) >>> seat % 64 & 1) == 1 == wants) {
            return;
        }
        if (wants) {
            Words.setBit(control, at, seat % 64);
        } else {
            Words.clearBit(control, at, seat % 64);
        }
    }

    /** Reads loosely from a position on that is known to start a frame, without a seat. */
    public LooseReader loose(long position) {
        return new LooseReader(this, -1, position);
    }

    /** The same in a seat: tools see how far it is. */
    public LooseReader loose(int seat, long position) {
        checkSeat(seat);
        return new LooseReader(this, seat, position);
    }

    /** Reads gated, from the seat's cursor on or, if it has none, from the head. */
    public GatedReader gated(int seat) {
        checkSeat(seat);
        return new GatedReader(this, seat);
    }

    /** Attaches as the writer. Through the registry, if there is one, it wakes who sleeps. */
    public Writer writer(int seat, Clock clock, Registry registry) {
        demand(Access.WRITE);
        checkSeat(seat);
        return new Writer(this, seat, clock, registry);
    }
}
