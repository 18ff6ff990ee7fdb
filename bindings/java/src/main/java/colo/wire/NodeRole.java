// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** What a node is. */
public enum NodeRole {
    /** A strategy. */
    STRATEGY("strategy"),
    /** md, td, matching, ledger or another part of the platform. */
    PLATFORM("platform"),
    ;

    private static final NodeRole[] ALL = values();
    private final String text;

    NodeRole(String text) {
        this.text = text;
    }

    /** The byte that stands for it. */
    public byte value() {
        return (byte) (ordinal() + 1);
    }

    /** The member of a byte; null where none has it. */
    public static NodeRole of(byte value) {
        int index = (value & 0xff) - 1;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }

    @Override
    public String toString() {
        return text;
    }
}
