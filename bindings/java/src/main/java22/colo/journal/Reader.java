package colo.journal;

/** What both kinds of reader can do. For one thread. */
public sealed interface Reader extends AutoCloseable permits LooseReader, GatedReader {
    /** The next frame. It holds until the next call. */
    Read next(Frame frame);

    /** Time of the next frame that is wanted, without reading it; -1: there is none, or a gap comes first. */
    long peekTime();

    /** True when there is a frame, or frames were lost. */
    boolean hasNews();

    /** Position of the next frame. */
    long position();

    /** After {@link Read#GAP}: the first position that is lost; {@link #position} is where reading goes on. */
    default long gapFrom() {
        return position();
    }

    /** Passes over frames of other topics; null: wants all. */
    void setTopics(int[] topics);

    /** Ends at what is on disk. */
    void setDurable(boolean durable);

    /** Says that the frame before is finished. */
    void release();

    @Override
    void close();

    /** A set of topics. */
    static long[] set(int[] topics) {
        if (topics == null) {
            return null;
        }
        long[] set = new long[colo.layout.Journals.MAX_TOPICS / 64];
        for (int topic : topics) {
            if (topic >= 0 && topic < colo.layout.Journals.MAX_TOPICS) {
                set[topic / 64] |= 1L << topic % 64;
            }
        }
        return set;
    }

    static boolean has(long[] set, int topic) {
        return set == null || topic >= 0 && topic < colo.layout.Journals.MAX_TOPICS && (set[topic / 64] >>> topic % 64 & 1) == 1;
    }
}
