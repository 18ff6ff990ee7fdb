// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What happened to a node. */
public enum NodeChange {
    /** Registered and about to run. */
    JOINED("joined"),
    /** Stopped in good order. After `Died`, of the gateway: no other process takes its seat. */
    LEFT("left"),
    /** Found dead. */
    DIED("died"),
    /** Stopped by a person who has asked that its orders work on. */
    PAUSED("paused"),
    ;

    private static final NodeChange[] ALL = values();
    private final String text;

    NodeChange(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static NodeChange of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
