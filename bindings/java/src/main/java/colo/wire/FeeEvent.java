// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Which fills a charge is made for, by what they do to the position. */
public enum FeeEvent {
    /** All. */
    ANY("any"),
    /** What opens. */
    OPEN("open"),
    /** What closes a position of an earlier day. */
    CLOSE("close"),
    /** What closes a position of today. */
    CLOSE_TODAY("close-today"),
    ;

    private static final FeeEvent[] ALL = values();
    private final String text;

    FeeEvent(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static FeeEvent of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
