package colo.journal;

/** Frames that come from no journal: for tests. */
public final class Frames {
    private Frames() {}

    public static void fill(Frame frame, long position, long time, int id, int topic, byte[] payload, int length) {
        fill(frame, position, time, id, 0, topic, 0, payload, length);
    }

    public static void fill(Frame frame, long position, long time, int id, int flags, int topic, int epoch, byte[] payload, int length) {
        frame.position = position;
        frame.time = time;
        frame.shape = length | (long) id << 32 | (long) flags << 48;
        frame.origin = topic | (long) epoch << 32;
        frame.payload = payload;
    }
}
