package compare;

import java.util.Arrays;
import java.util.StringJoiner;
import net.openhft.chronicle.threads.Pauser;

/** One writes at a steady rate, many nap; each message is for one of them. {@code src/works/sleepers.rs} in Java. */
final class Sleepers {
    /** Messages before those that count, for nobody. */
    private static final int WARM_UP = 12_000;
    private static final long END = -1;
    private static final long NOBODY = -1;

    private Sleepers() {
    }

    static String takePart(Task task, Board board) throws InterruptedException {
        String answer;
        if (task.role() > 0) {
            Link link = Link.receiver(task, 0);
            board.meet(2);
            board.meet(3);
            link.hearHello();
            board.meet(4);
            answer = read(link, board, task.role() - 1);
        } else {
            board.meet(2);
            Link link = Link.sender(task, 0);
            link.sayHello();
            board.meet(3);
            board.meet(4);
            answer = write(link, board, task);
        }
        board.meet(6);
        return answer;
    }

    private static String write(Link link, Board board, Task task) throws InterruptedException {
        for (int index = 0; index < WARM_UP; index++) {
            send(link, index, System.nanoTime(), NOBODY);
        }
        board.meet(5);
        Thread.sleep(30);
        int readers = task.roles() - 1;
        long perSecond = task.first();
        long nanos = task.second() * 1_000_000;
        long[] costs = new long[(int) (perSecond * task.second() / 1_000) + 2];
        int written = 0;
        long begin = System.nanoTime();
        while (true) {
            long due = begin + written * 1_000_000_000L / perSecond;
            long sentAt = System.nanoTime();
            while (sentAt < due) {
                Thread.onSpinWait();
                sentAt = System.nanoTime();
            }
            if (sentAt > begin + nanos) {
                break;
            }
            send(link, written, sentAt, target(written, readers));
            costs[written] = System.nanoTime() - sentAt;
            written++;
        }
        long took = System.nanoTime() - begin;
        for (int reader = 0; reader < readers; reader++) {
            send(link, END, System.nanoTime(), reader);
        }
        return "{\"kind\":\"writer\",\"cost\":" + Quantiles.of(Arrays.copyOf(costs, written), 1.0)
                + ",\"written\":" + written + ",\"nanos\":" + took + "}";
    }

    private static void send(Link link, long number, long time, long reader) {
        link.put(0, number);
        link.put(1, time);
        link.put(2, reader);
        link.send();
    }

    /** Whom a message is for: scattered, the same for every rival. */
    private static long target(long index, int readers) {
        return ((index * 0x9e3779b97f4a7c15L) >>> 33) % readers;
    }

    private static String read(Link link, Board board, int me) throws InterruptedException {
        for (int seen = 0; seen < WARM_UP; ) {
            if (link.receive()) {
                seen++;
            } else {
                Thread.sleep(1);
            }
        }
        board.meet(5);
        Pauser pauser = Pauser.millis(1);
        StringJoiner times = new StringJoiner(",", "[", "]");
        while (true) {
            if (!link.receive()) {
                pauser.pause();
                continue;
            }
            pauser.reset();
            if (link.get(2) != me) {
                continue;
            }
            if (link.get(0) == END) {
                return "{\"kind\":\"latencies\",\"nanos\":" + times + "}";
            }
            times.add(Long.toString(System.nanoTime() - link.get(1)));
        }
    }
}
