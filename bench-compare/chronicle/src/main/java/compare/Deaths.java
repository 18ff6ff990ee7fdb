package compare;

/** Roles that are killed, and those who see it; {@code src/works/deaths.rs} in Java. */
final class Deaths {
    /** Time between two messages of a writer that will be killed. */
    private static final long PACE_NANOS = 20_000;
    /** Between two of a writer that goes on: its file grows without end. */
    private static final long STEADY_NANOS = 1_000;

    private Deaths() {
    }

    static String writerDies(Task task, Board board) {
        if (task.role() == 0) {
            Link link = Link.receiver(task, 0);
            board.set(Board.STEP, 2);
            return watch(link, board, task.payload() / 8);
        }
        Link link = Link.sender(task, 0);
        for (long count = 0; ; count++) {
            for (int index = 0; index < task.payload() / 8; index++) {
                link.put(index, value(index, count, task.generation()));
            }
            link.send();
            long sent = System.nanoTime();
            if (count == 0) {
                board.set(Board.FIRST, sent);
            }
            spin(sent + PACE_NANOS);
        }
    }

    private static long value(int index, long count, long generation) {
        return switch (index) {
            case 0 -> count;
            case 1 -> generation;
            default -> (count ^ generation << 40) * 0x9e3779b97f4a7c15L ^ index;
        };
    }

    private static void spin(long end) {
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }

    private static String watch(Link link, Board board, int words) {
        long generation = 0;
        long next = 0;
        long torn = 0;
        long gaps = 0;
        long seen = 0;
        while (board.driver(Board.END) == 0) {
            if (!link.receive()) {
                Thread.onSpinWait();
                continue;
            }
            long count = link.get(0);
            boolean whole = true;
            for (int index = 2; index < words; index++) {
                whole &= link.get(index) == value(index, count, link.get(1));
            }
            torn += whole ? 0 : 1;
            boolean isNew = link.get(1) != generation;
            gaps += !isNew && count != next ? 1 : 0;
            next = count + 1;
            seen++;
            board.set(Board.TORN, torn);
            board.set(Board.GAPS, gaps);
            board.set(Board.COUNT, seen + 1);
            if (isNew) {
                generation = link.get(1);
                board.set(Board.HEARD, System.nanoTime());
                board.set(Board.GENERATION, generation);
            }
        }
        return "{\"kind\":\"done\"}";
    }

    static String readerDies(Task task, Board board) throws InterruptedException {
        Link link;
        if (task.role() > 0) {
            link = Link.receiver(task, 0);
            board.meet(2);
            board.meet(3);
            listen(link, board);
        } else {
            board.meet(2);
            link = Link.sender(task, 0);
            board.meet(3);
            for (long count = 0; board.driver(Board.END) == 0; count++) {
                link.put(0, count);
                link.send();
                spin(System.nanoTime() + STEADY_NANOS);
            }
        }
        return "{\"kind\":\"done\"}";
    }

    private static void listen(Link link, Board board) {
        long last = System.nanoTime();
        long silence = 0;
        long seen = 0;
        while (board.driver(Board.END) == 0) {
            if (!link.receive()) {
                Thread.onSpinWait();
                continue;
            }
            long time = System.nanoTime();
            if (board.driver(Board.KILLED) != 0) {
                silence = Math.max(silence, time - last);
                board.set(Board.SILENCE, silence);
            }
            last = time;
            seen++;
            board.set(Board.LAST, time);
            board.set(Board.COUNT, seen + 1);
        }
    }
}
