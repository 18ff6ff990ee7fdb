package colo.test;

import static colo.test.Check.holds;
import static colo.test.Check.same;

import colo.journal.Frame;
import colo.journal.MappedReader;
import colo.journal.Read;
import colo.journal.Windows;
import colo.wire.Best;
import colo.wire.Message;
import colo.wire.Messages;
import colo.wire.Quote;
import java.lang.reflect.Method;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;

/** What JDK 17 can do: messages, and reading loosely. The argument is the workspace's folder. */
public final class Test17 {
    private final Path root;

    private Test17(Path root) {
        this.root = root;
    }

    public static void main(String[] arguments) {
        Test17 tests = new Test17(Path.of(arguments[0]));
        Check check = new Check();
        tests.addTo(check);
        check.runAll();
    }

    static Test17 of(Path root) {
        return new Test17(root);
    }

    void addTo(Check check) {
        check.test("messages hold what the samples say", this::samples);
        check.test("an index reaches no other field, and a copy keeps a message", this::lists);
        check.test("the golden vectors are read as they are written, in windows too", this::golden);
    }

    private void samples() throws Exception {
        Message message = null;
        int messages = 0;
        int fields = 0;
        for (String line : Files.readAllLines(root.resolve("bindings/vectors/messages.txt"))) {
            String[] words = line.split(" ", 4);
            switch (words[0]) {
                case "#" -> {
                    continue;
                }
                case "message" -> {
                    message = Messages.create(Integer.parseInt(words[1]));
                    same(message.getClass().getSimpleName(), words[2]);
                    same(message.messageId() + " " + message.size(), words[1] + " " + words[3]);
                    messages++;
                }
                case "bytes" -> {
                    byte[] bytes = HexFormat.of().parseHex(words[1]);
                    holds(message.decode(bytes, bytes.length), line);
                    holds(!message.decode(bytes, bytes.length - 1), "too short");
                }
                default -> {
                    holds(isHeld(field(message, words[0]), words[1]), message.getClass().getSimpleName() + ": " + line);
                    fields++;
                }
            }
        }
        holds(messages >= 30 && fields >= 300, messages + " messages, " + fields + " fields");
    }

    private void lists() {
        Quote quote = new Quote().allocate();
        quote.lastQuantity(7);
        quote.asksPrice(9, 5);
        for (int index : new int[] {-1, 10, Integer.MAX_VALUE}) {
            boolean refused = false;
            try {
                quote.asksPrice(index);
            } catch (IndexOutOfBoundsException error) {
                refused = true;
            }
            holds(refused, index);
        }
        try {
            quote.bidsQuantity(10, 1);
            holds(false, "written behind the list");
        } catch (IndexOutOfBoundsException error) {
            // As it should be.
        }
        Quote kept = new Quote().copy(quote);
        quote.clear();
        same(kept.asksPrice(9) + " " + kept.lastQuantity(), "5 7");
        try {
            kept.copy(new Best().allocate());
            holds(false, "a message of another kind is copied");
        } catch (IllegalArgumentException error) {
            same(kept.lastQuantity(), 7L);
        }
    }

    /** Java has no types without a sign: the bits count. */
    private static boolean isHeld(Object value, String wanted) {
        if (value instanceof Long number) {
            return number == new BigInteger(wanted).longValue();
        }
        if (value instanceof Integer number) {
            return number == new BigInteger(wanted).intValue();
        }
        return value.toString().equals(wanted);
    }

    private static Object field(Message message, String path) throws Exception {
        StringBuilder name = new StringBuilder();
        Integer index = null;
        for (String word : path.split("[._]")) {
            if (word.matches("\\d+")) {
                index = Integer.valueOf(word);
            } else {
                name.append(name.length() == 0 ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
            }
        }
        Class<?>[] types = index == null ? new Class<?>[0] : new Class<?>[] {int.class};
        Object[] arguments = index == null ? new Object[0] : new Object[] {index};
        Method method;
        try {
            method = message.getClass().getMethod(name.toString(), types);
        } catch (NoSuchMethodException error) {
            long low = (long) message.getClass().getMethod(name + "Low", types).invoke(message, arguments);
            long high = (long) message.getClass().getMethod(name + "High", types).invoke(message, arguments);
            return BigInteger.valueOf(high).shiftLeft(64).add(new BigInteger(Long.toUnsignedString(low)));
        }
        return method.invoke(message, arguments);
    }

    private void golden() throws Exception {
        Path folder = Check.folder();
        Path vectors = root.resolve("journal/tests/vectors");
        Check.unhex(vectors.resolve("control.hex"), folder.resolve("golden.ctl"));
        Check.unhex(vectors.resolve("ring.hex"), folder.resolve("golden.ring"));
        List<String> wanted = Files.readAllLines(vectors.resolve("frames.txt"));
        // Windows of 4 KiB and one of the whole ring.
        for (int shift : new int[] {12, 30}) {
            MappedReader reader = Windows.open(folder, "golden", shift);
            reader.seek(reader.oldest());
            Frame frame = new Frame();
            int line = 1;
            while (reader.next(frame) == Read.FRAME) {
                long sum = 0;
                for (int at = 0; at < frame.length(); at++) {
                    sum += frame.payload()[at] & 0xff;
                }
                same(frame.position() + " " + frame.id() + " " + frame.topic() + " " + frame.time() + " " + frame.epoch() + " "
                    + frame.length() + " " + sum, wanted.get(line++));
            }
            same(line, wanted.size());
            holds(line > 50, line);
        }
    }
}
