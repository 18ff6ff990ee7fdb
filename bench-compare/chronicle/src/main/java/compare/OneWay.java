package compare;

/** One writes as fast as it can, the others read everything; {@code src/works/one_way.rs} in Java. */
final class OneWay {
    /** Messages before those that count: the compiler has done its work after them. */
    private static final long WARM_UP = 200_000;
    /** Messages between two looks at the time. */
    private static final int LOOK = 1_024;

    private OneWay() {
    }

    static String takePart(Task task, Board board) throws InterruptedException {
        String answer;
        if (task.role() > 0) {
            Link link = Link.receiver(task, 0);
            board.meet(2);
            board.meet(3);
            link.hearHello();
            board.meet(4);
            answer = read(link, board);
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
        send(link, 0, WARM_UP);
        board.meet(5);
        // A file does not wrap: it ends when the first mapping is full, all of which has been touched.
        long most = task.blockSize() / (task.payload() + 16) - WARM_UP;
        long written = 0;
        long begin = System.nanoTime();
        while (System.nanoTime() < begin + task.first() * 1_000_000 && written + LOOK < most) {
            send(link, WARM_UP + written, LOOK);
            written += LOOK;
        }
        board.set(Board.COUNT, written + 1);
        long last = begin;
        for (int reader = 1; reader < task.roles(); reader++) {
            while (board.get(reader, Board.COUNT) == 0) {
                Thread.onSpinWait();
            }
            last = Math.max(last, board.get(reader, Board.LAST));
        }
        return "{\"kind\":\"one_way\",\"written\":" + written + ",\"nanos\":" + (last - begin) + ",\"lost\":0}";
    }

    private static void send(Link link, long first, long count) {
        for (long number = first; number < first + count; number++) {
            link.put(0, number);
            link.send();
        }
    }

    private static String read(Link link, Board board) throws InterruptedException {
        long next = readTo(link, board, 0, WARM_UP);
        board.meet(5);
        next = readTo(link, board, next, Long.MAX_VALUE);
        board.set(Board.LAST, System.nanoTime());
        board.set(Board.COUNT, next - WARM_UP + 1);
        return "{\"kind\":\"done\"}";
    }

    /** Up to message {@code end}, or to the last one that the writer says there is. */
    private static long readTo(Link link, Board board, long next, long end) {
        while (next < end) {
            if (link.receive()) {
                if (link.get(0) != next) {
                    throw new IllegalStateException("message " + link.get(0) + " came where " + next + " was due");
                }
                next++;
            } else if (board.get(0, Board.COUNT) == next - WARM_UP + 1) {
                break;
            }
        }
        return next;
    }
}
