package compare;

import java.util.function.BooleanSupplier;
import net.openhft.chronicle.threads.Pauser;

/** Two roles bounce messages, and the bare word right before and after; {@code src/works/ping_pong.rs} in Java. */
final class PingPong {
    /** Round trips before those that the task asks for: the compiler has done its work after them. */
    static final long WARM_UP = 50_000;
    /** Of those who sleep. */
    private static final long WARM_UP_ASLEEP = 200;
    private static final int FLOOR_TRIPS = 4_000;
    private static final int FLOOR_WARM_UP = 30_000;
    /** How long a sleeper's message is kept before it is answered. */
    private static final long PAUSE_NANOS = 500_000;

    private final Board board;
    private final boolean asleep;
    private final Link there;
    private final Link back;
    private final Pauser pauser;
    private long came;

    private PingPong(Task task, Board board) throws InterruptedException {
        this.board = board;
        asleep = task.asleep();
        pauser = asleep ? Pauser.millis(1) : Pauser.busy();
        back = Link.receiver(task, 1 - task.role());
        board.meet(2);
        there = Link.sender(task, task.role());
        there.sayHello();
        board.meet(3);
        back.hearHello();
        board.meet(4);
    }

    static String takePart(Task task, Board board) throws InterruptedException {
        PingPong ends = new PingPong(task, board);
        long warmUp = task.second() + (ends.asleep ? WARM_UP_ASLEEP : WARM_UP);
        board.meet(5);
        if (task.role() > 0) {
            ends.answerFloor();
            ends.answer(warmUp + task.first());
            ends.answerFloor();
            board.meet(6);
            return "{\"kind\":\"done\"}";
        }
        String before = ends.floor();
        String own = ends.bounce((int) warmUp, (int) task.first());
        String after = ends.floor();
        board.meet(6);
        return "{\"kind\":\"ping_pong\",\"floor_before\":" + before + ",\"own\":" + own
                + ",\"floor_after\":" + after + "}";
    }

    private String floor() {
        long[] times = new long[FLOOR_TRIPS];
        long first = board.get(0, Board.BOUNCE) + 1;
        long before = System.nanoTime();
        for (int trip = 0; trip < FLOOR_WARM_UP + FLOOR_TRIPS; trip++) {
            long word = first + trip;
            board.set(Board.BOUNCE, word);
            while (board.get(1, Board.BOUNCE) != word) {
                Thread.onSpinWait();
            }
            long now = System.nanoTime();
            if (trip >= FLOOR_WARM_UP) {
                times[trip - FLOOR_WARM_UP] = now - before;
            }
            before = now;
        }
        return Quantiles.of(times, 0.5);
    }

    private void answerFloor() {
        long first = board.get(1, Board.BOUNCE) + 1;
        for (int trip = 0; trip < FLOOR_WARM_UP + FLOOR_TRIPS; trip++) {
            while (board.get(0, Board.BOUNCE) != first + trip) {
                Thread.onSpinWait();
            }
            board.set(Board.BOUNCE, first + trip);
        }
    }

    private String bounce(int warmUp, int trips) {
        long[] times = new long[trips];
        long before = System.nanoTime();
        for (int trip = 0; trip < warmUp + trips; trip++) {
            there.put(0, trip);
            if (asleep) {
                before = pause();
            }
            there.send();
            take();
            if (!back.message.contentEquals(there.message)) {
                throw new IllegalStateException("message " + back.get(0) + " came where " + trip + " was due");
            }
            long held = asleep ? board.get(1, Board.HELD) : 0;
            if (trip >= warmUp) {
                times[trip - warmUp] = came - before - held;
            }
            before = came;
        }
        return Quantiles.of(times, 0.5);
    }

    private void answer(long trips) {
        for (long trip = 0; trip < trips; trip++) {
            take();
            there.message.write(0L, back.message, 0L, back.message.writePosition());
            if (asleep) {
                board.set(Board.HELD, pause() - came);
            }
            there.send();
        }
    }

    private void take() {
        while (!back.receive()) {
            pauser.pause();
        }
        came = System.nanoTime();
        pauser.reset();
    }

    private static long pause() {
        long end = System.nanoTime() + PAUSE_NANOS;
        while (true) {
            long now = System.nanoTime();
            if (now >= end) {
                return now;
            }
            Thread.onSpinWait();
        }
    }
}
