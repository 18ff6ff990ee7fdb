package colo.test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the tests share: they need no framework. A test that hangs is ended by a watchdog. */
final class Check {
    private static final long WATCHDOG_MS = 120_000;

    interface Test {
        void run() throws Exception;
    }

    private final Map<String, Test> tests = new LinkedHashMap<>();

    void test(String name, Test test) {
        tests.put(name, test);
    }

    /** Runs all, and ends the process with 1 if one failed. */
    void runAll() {
        int failed = 0;
        for (Map.Entry<String, Test> each : tests.entrySet()) {
            Thread test = Thread.currentThread();
            Thread watchdog = new Thread(() -> {
                try {
                    Thread.sleep(WATCHDOG_MS);
                    for (StackTraceElement at : test.getStackTrace()) {
                        System.out.println("    " + at);
                    }
                    System.out.println("hangs: " + each.getKey());
                    Runtime.getRuntime().halt(1);
                } catch (InterruptedException error) {
                    // The test has ended.
                }
            });
            watchdog.setDaemon(true);
            watchdog.start();
            try {
                each.getValue().run();
                System.out.println("ok      " + each.getKey());
            } catch (Throwable error) {
                failed++;
                System.out.println("FAILED  " + each.getKey());
                error.printStackTrace(System.out);
            }
            watchdog.interrupt();
        }
        System.out.println(tests.size() + " tests, " + failed + " failed");
        System.exit(failed == 0 && !tests.isEmpty() ? 0 : 1);
    }

    static void holds(boolean condition, Object what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    static void same(Object found, Object wanted) {
        holds(found.equals(wanted), found + " is not " + wanted);
    }

    static Path folder() throws IOException {
        Path memory = Path.of("/dev/shm");
        Path folder = Files.isWritable(memory) ? Files.createTempDirectory(memory, "colo-java-") : Files.createTempDirectory("colo-java-");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            for (String name : List.of("t.ctl", "t.ring", "t.lock", "golden.ctl", "golden.ring", "registry", "")) {
                try {
                    Files.deleteIfExists(folder.resolve(name));
                } catch (IOException error) {
                    System.out.println(error);
                }
            }
        }));
        return folder;
    }

    /** Words of a file, as one of the golden vectors says. */
    static void unhex(Path vector, Path to) throws IOException {
        List<String> lines = Files.readAllLines(vector);
        ByteBuffer bytes = ByteBuffer.allocate(Integer.parseInt(lines.get(0).split(" ")[1])).order(ByteOrder.LITTLE_ENDIAN);
        for (String line : lines.subList(1, lines.size())) {
            String[] words = line.split(": ");
            bytes.putLong(8 * Integer.parseInt(words[0]), Long.parseUnsignedLong(words[1], 16));
        }
        Files.write(to, bytes.array());
    }

    static void poke(Path file, long at, long value) throws IOException {
        try (FileChannel open = FileChannel.open(file, StandardOpenOption.WRITE)) {
            open.write(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, value), at);
        }
    }

    static long peek(Path file, long at) throws IOException {
        try (FileChannel open = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer word = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
            open.read(word, at);
            return word.getLong(0);
        }
    }
}
