package colo.journal;

/** Frames that come from no journal: for tests. */
public final class Frames {
    private Frames() {}

    public static void fill(Frame frame, long position, long time, int id, int topic, byte[] payload, int length) {
        frame.position = position;
        frame.time = time;
        frame.shape = length | (long) id << 32;
        frame.origin = topic;
        frame.payload = payload;
    }
}
