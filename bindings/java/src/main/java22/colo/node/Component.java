package colo.node;

import colo.journal.Frame;

/** What a node runs. All calls come on one thread. */
public interface Component {
    /** Before each round over the inputs. */
    void turn();

    /** Whether the next frame of an input, at this position, may be taken now. */
    boolean accepts(int input, long position);

    /** Hands one over; it holds up to the end of the call. */
    void frame(int input, Frame frame);

    /** Frames of an input are lost, from and to. */
    void gap(int input, long from, long to);

    /** Frames of all inputs come in the order of their times. */
    boolean inTimeOrder();

    /** Once, at the end in good order. */
    void stop();
}
