package colo.journal;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/** The calls of the C library that Java has no other way to. Those of one thread share the memory for errno. */
public final class Native {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup LIBRARY = LINKER.defaultLookup();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final VarHandle ERRNO_FIELD =
        Linker.Option.captureStateLayout().varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final ThreadLocal<MemorySegment> STATE =
        ThreadLocal.withInitial(() -> Arena.global().allocate(Linker.Option.captureStateLayout()));

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    private static final MethodHandle OPEN = of("open", FunctionDescriptor.of(INT, ValueLayout.ADDRESS, INT), ERRNO, Linker.Option.firstVariadicArg(2));
    private static final MethodHandle CLOSE = of("close", FunctionDescriptor.of(INT, INT));
    private static final MethodHandle MMAP = of("mmap", FunctionDescriptor.of(LONG, LONG, LONG, INT, INT, INT, LONG), ERRNO);
    private static final MethodHandle MUNMAP = of("munmap", FunctionDescriptor.of(INT, LONG, LONG));
    private static final MethodHandle FCNTL =
        of("fcntl", FunctionDescriptor.of(INT, INT, INT, ValueLayout.ADDRESS), ERRNO, Linker.Option.firstVariadicArg(2));
    private static final MethodHandle SYSCALL =
        of("syscall", FunctionDescriptor.of(LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG), ERRNO, Linker.Option.firstVariadicArg(1));
    private static final MethodHandle SETAFFINITY =
        of("sched_setaffinity", FunctionDescriptor.of(INT, INT, LONG, ValueLayout.ADDRESS), ERRNO);
    private static final MethodHandle SETSCHEDULER =
        of("sched_setscheduler", FunctionDescriptor.of(INT, INT, INT, ValueLayout.ADDRESS), ERRNO);
    private static final MethodHandle SETPRIORITY = of("setpriority", FunctionDescriptor.of(INT, INT, INT, INT), ERRNO);
    private static final MethodHandle MLOCKALL = of("mlockall", FunctionDescriptor.of(INT, INT), ERRNO);
    private static final MethodHandle GETCPU = of("sched_getcpu", FunctionDescriptor.of(INT));
    private static final MethodHandle GETUID = of("geteuid", FunctionDescriptor.of(INT));
    private static final MethodHandle KILL = of("kill", FunctionDescriptor.of(INT, INT, INT));

    private static final boolean IS_X86 = System.getProperty("os.arch").equals("amd64");
    private static final long SYS_FUTEX = IS_X86 ? 202 : 98;
    private static final long SYS_MEMBARRIER = IS_X86 ? 324 : 283;
    private static final long SYS_TGKILL = IS_X86 ? 234 : 131;

    static final int EAGAIN = 11;
    static final int EACCES = 13;
    static final int EINTR = 4;
    static final int ENOENT = 2;
    static final int ETIMEDOUT = 110;

    private Native() {}

    private static MethodHandle of(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        return LINKER.downcallHandle(LIBRARY.find(name).orElseThrow(), descriptor, options);
    }

    private static AssertionError impossible(Throwable error) {
        return new AssertionError("a call of the C library throws", error);
    }

    static int errno() {
        return (int) ERRNO_FIELD.get(STATE.get(), 0L);
    }

    /** A descriptor, or less than 0: {@link #errno} says why. */
    static int open(String path, boolean writable) {
        final int readWrite = 2;
        final int closeOnExec = 0x80000;
        try (Arena arena = Arena.ofConfined()) {
            return (int) OPEN.invokeExact(STATE.get(), arena.allocateFrom(path), (writable ? readWrite : 0) | closeOnExec);
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    static void close(int file) {
        try {
            int ignored = (int) CLOSE.invokeExact(file);
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    /** Maps a file as often as times says, one behind the other; null: {@link #errno} says why. */
    static MemorySegment map(int file, long size, long page, int times, boolean writable, Arena arena) {
        final int none = 0;
        final int read = 1;
        final int write = 2;
        final int shared = 1;
        final int isPrivate = 2;
        final int fixed = 0x10;
        final int anonymous = 0x20;
        final int noReserve = 0x4000;
        try {
            long bytes = size * times;
            long reserved = (long) MMAP.invokeExact(STATE.get(), 0L, bytes + page, none, isPrivate | anonymous | noReserve, -1, 0L);
            if (reserved == -1) {
                return null;
            }
            // Huge pages are mapped at multiples of their size alone.
            long base = reserved + page - 1 & -page;
            for (int time = 0; time < times; time++) {
                long mapped = (long) MMAP.invokeExact(STATE.get(), base + time * size, size, read | (writable ? write : 0),
                    shared | fixed, file, 0L);
                if (mapped == -1) {
                    int why = errno();
                    unmap(reserved, bytes + page);
                    ERRNO_FIELD.set(STATE.get(), 0L, why);
                    return null;
                }
            }
            return MemorySegment.ofAddress(base).reinterpret(bytes, arena, ignored -> unmap(reserved, bytes + page));
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    private static void unmap(long address, long bytes) {
        try {
            int ignored = (int) MUNMAP.invokeExact(address, bytes);
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    /** Locks one byte for an open file; 0, or the reason why not. */
    static int lockByte(int file, long at) {
        final int ofdSetLock = 37;
        final short writeLock = 1;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment lock = arena.allocate(32, 8);
            lock.set(ValueLayout.JAVA_SHORT, 0, writeLock);
            lock.set(LONG, 8, at);
            lock.set(LONG, 16, 1);
            int done = (int) FCNTL.invokeExact(STATE.get(), file, ofdSetLock, lock);
            return done == 0 ? 0 : errno();
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    private static long call(long number, long a, long b, long c, long d) {
        try {
            return (long) SYSCALL.invokeExact(STATE.get(), number, a, b, c, d, 0L, 0L);
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    /** Sleeps while the word at the address has this value. The collector does not wait for who sleeps here. */
    static int futexWait(long address, int value, MemorySegment time) {
        return call(SYS_FUTEX, address, 0, value, time.address()) == 0 ? 0 : errno();
    }

    static void futexWake(long address) {
        call(SYS_FUTEX, address, 1, 1, 0);
    }

    static boolean membarrier(int command) {
        return call(SYS_MEMBARRIER, command, 0, 0, 0) == 0;
    }

    /** Has a thread run on these CPUs; 0, or the reason why not. */
    public static int setAffinity(int thread, long[] mask) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bits = arena.allocateFrom(LONG, mask);
            int done = (int) SETAFFINITY.invokeExact(STATE.get(), thread, bits.byteSize(), bits);
            return done == 0 ? 0 : errno();
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    /** Has a thread that sleeps run for a moment, by a signal that the virtual machine handles and ignores. */
    public static void nudge(int thread) {
        final int fileTooLarge = 25;
        call(SYS_TGKILL, ProcessHandle.current().pid(), thread, fileTooLarge, 0);
    }

    /** Policy 1 is FIFO, 5 is IDLE. */
    public static int setScheduler(int thread, int policy, int priority) {
        try (Arena arena = Arena.ofConfined()) {
            int done = (int) SETSCHEDULER.invokeExact(STATE.get(), thread, policy, arena.allocateFrom(INT, priority));
            return done == 0 ? 0 : errno();
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    public static int setNice(int thread, int nice) {
        try {
            int done = (int) SETPRIORITY.invokeExact(STATE.get(), 0, thread, nice);
            return done == 0 ? 0 : errno();
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    public static int lockMemory() {
        try {
            int done = (int) MLOCKALL.invokeExact(STATE.get(), 3);
            return done == 0 ? 0 : errno();
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    public static int cpu() {
        try {
            return (int) GETCPU.invokeExact();
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    public static int user() {
        try {
            return (int) GETUID.invokeExact();
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    /** Ends this process at once. */
    public static void killSelf() {
        try {
            int ignored = (int) KILL.invokeExact((int) ProcessHandle.current().pid(), 9);
        } catch (Throwable error) {
            throw impossible(error);
        }
    }
}
