package colo.journal;

/** What came of a look for the next frame. */
public enum Read {
    /** There is none now. */
    NOTHING,
    /** It is in the frame that was given. */
    FRAME,
    /** The writer overtook the reader: it says what is lost, and goes on at the head. */
    GAP
}
