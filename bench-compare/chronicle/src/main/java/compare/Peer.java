package compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import net.openhft.affinity.Affinity;
import net.openhft.chronicle.threads.Pauser;

/** One role of one block, for Chronicle Queue: what {@code src/peer.rs} does for the others. */
public final class Peer {
    private Peer() {
    }

    /** Does the role that the driver names, and prints its outcome as one line of JSON. */
    public static void main(String[] args) {
        int status = 0;
        try {
            run(Task.of(args));
        } catch (Exception | Error error) {
            System.err.println("chronicle-queue: " + error);
            status = 1;
        }
        System.out.flush();
        // What is mapped goes with the process; nothing has to be closed first.
        Runtime.getRuntime().halt(status);
    }

    private static void run(Task task) throws IOException, InterruptedException {
        Board board = new Board(task.room(), task.role(), task.roles(), task.words());
        if (task.role() == 0) {
            board.set(Board.STEP, 1);
        } else {
            board.await(0, 1);
        }
        Affinity.setAffinity(task.cpu());
        if (task.work().equals("writer-dies") && task.role() > 0) {
            board.set(Board.BEGUN, System.nanoTime());
        }
        long before = involuntarySwitches();
        String answer = switch (task.work()) {
            case "ping", "asleep" -> PingPong.takePart(task, board);
            case "one-way" -> OneWay.takePart(task, board);
            case "sleepers" -> Sleepers.takePart(task, board);
            case "writer-dies" -> Deaths.writerDies(task, board);
            case "reader-dies" -> Deaths.readerDies(task, board);
            case "classes" -> useClasses(task);
            default -> throw new IllegalArgumentException("there is no work " + task.work());
        };
        long involuntary = involuntarySwitches() - before;
        System.out.println("{\"answer\":" + answer + ",\"involuntary\":" + involuntary + ",\"latencies\":[]}");
    }

    /** Uses what the works use, so that the archive of classes has it. */
    private static String useClasses(Task task) {
        Link sender = Link.sender(task, 0);
        Link receiver = Link.receiver(task, 0);
        sender.sayHello();
        receiver.hearHello();
        sender.send();
        while (!receiver.receive()) {
            Pauser.busy().pause();
        }
        Pauser.millis(1).pause();
        return Quantiles.of(new long[] {receiver.get(0)}, 1.0);
    }

    /** Of the calling thread, so far. */
    private static long involuntarySwitches() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/thread-self/status"))) {
            if (line.startsWith("nonvoluntary_ctxt_switches:")) {
                return Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
            }
        }
        return 0;
    }
}
