package colo.node;

import colo.journal.Frame;
import colo.journal.Journal;
import colo.journal.Registry;
import java.util.List;
import java.util.Map;

/** A node of a test, which only stops: how many frames it reads then. */
public final class Stops {
    private Stops() {}

    /** It reads `t` in seat 1, gated from its oldest frame on, and each frame takes so long. */
    public static int seen(Registry registry, Journal journal, Runnable write, long drainMillis, long frameMillis, boolean accepts, boolean ordered) {
        Node node = new Node(new Assignment("n", "service", 1, 1, false, 0, "direct", false, false, drainMillis * 1_000_000, false,
            Map.of(), null, null, List.of(), List.of()), null);
        node.sit(registry);
        node.read(new Assignment.ReadOf("t", "t", null, true, false, false, 0), journal);
        write.run();
        int[] seen = new int[1];
        node.drain(new Component() {
            @Override
            public void turn() {}

            @Override
            public boolean accepts(int input, long position) {
                return accepts;
            }

            @Override
            public void frame(int input, Frame frame) {
                seen[0]++;
                try {
                    Thread.sleep(frameMillis);
                } catch (InterruptedException error) {
                    throw new IllegalStateException(error);
                }
            }

            @Override
            public void gap(int input, long from, long to) {}

            @Override
            public boolean inTimeOrder() {
                return ordered;
            }

            @Override
            public void stop() {}
        });
        return seen[0];
    }
}
