// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** A working order as it stands; `open` zero: it works no more. */
public final class OrderImage extends Message {
    public static final int ID = 50;
    public static final int SIZE = 96;

    @Override
    public int messageId() {
        return ID;
    }

    @Override
    public int size() {
        return SIZE;
    }

    @Override
    public boolean isValid() {
        return true;
    }

    /** Which one. */
    public long orderId() {
        return getLong(0);
    }

    public void orderId(long value) {
        setLong(0, value);
    }

    /** Its limit price; `Price.NONE` if it has none. */
    public long price() {
        return getLong(8);
    }

    public void price(long value) {
        setLong(8, value);
    }

    /** How much of it still works. */
    public long open() {
        return getLong(16);
    }

    public void open(long value) {
        setLong(16, value);
    }

    /** How much of it has traded. */
    public long filled() {
        return getLong(24);
    }

    public void filled(long value) {
        setLong(24, value);
    }

    /** How much an iceberg shows at a time; zero: all. */
    public long display() {
        return getLong(32);
    }

    public void display(long value) {
        setLong(32, value);
    }

    /** How much of an iceberg is shown now. */
    public long shown() {
        return getLong(40);
    }

    public void shown(long value) {
        setLong(40, value);
    }

    /** What a stop waits for, as a number of ticks. */
    public long triggerTicks() {
        return getLong(48);
    }

    public void triggerTicks(long value) {
        setLong(48, value);
    }

    /** When it ends; the largest number: by no date. */
    public long ends() {
        return getLong(56);
    }

    public void ends(long value) {
        setLong(56, value);
    }

    /** Its instrument. */
    public int instrument() {
        return getInt(64);
    }

    public void instrument(int value) {
        setInt(64, value);
    }

    /** For which account. */
    public int account() {
        return getInt(68);
    }

    public void account(int value) {
        setInt(68, value);
    }

    /** Which order is older: it grows with every order that comes in or loses its place, and wraps. */
    public int ageNumber() {
        return getInt(72);
    }

    public void ageNumber(int value) {
        setInt(72, value);
    }

    /** What is true of it, in matching's own bits. */
    public int bits() {
        return getInt(76);
    }

    public void bits(int value) {
        setInt(76, value);
    }

    /** The `age_number` of the last order that came in when this one went behind the others at its price. */
    public int behind() {
        return getInt(80);
    }

    public void behind(int value) {
        setInt(80, value);
    }

    /** Of several that went there meanwhile, the which. */
    public int turn() {
        return getInt(84);
    }

    public void turn(int value) {
        setInt(84, value);
    }

    /** By which strategy. */
    public int strategy() {
        return getShort(88) & 0xffff;
    }

    public void strategy(int value) {
        setShort(88, (short) value);
    }

    /** 1: it stands in the book; 0: it waits outside of it. */
    public int rests() {
        return getShort(90) & 0xffff;
    }

    public void rests(int value) {
        setShort(90, (short) value);
    }
}
