// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** The images before it are a whole state. */
public final class StateEnd extends Message {
    public static final int ID = 53;
    public static final int SIZE = 80;

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

    /** Position of the last request in `td.orders` that it contains. */
    public long request() {
        return getLong(0);
    }

    public void request(long value) {
        setLong(0, value);
    }

    /** The exchange's time. */
    public long time() {
        return getLong(8);
    }

    public void time(long value) {
        setLong(8, value);
    }

    /** Position in `matching.executions` of what was written next. */
    public long execution() {
        return getLong(16);
    }

    public void execution(long value) {
        setLong(16, value);
    }

    /** Frames in `matching.executions` until then. */
    public long executions() {
        return getLong(24);
    }

    public void executions(long value) {
        setLong(24, value);
    }

    /** Position in `matching.market` of what was written next; beside a recorded or quoted market: of the last message of `md.flow` or `md.quotes` that it contains. */
    public long market() {
        return getLong(32);
    }

    public void market(long value) {
        setLong(32, value);
    }

    /** Position in this journal from which on there is an image of everything. */
    public long base() {
        return getLong(40);
    }

    public void base(long value) {
        setLong(40, value);
    }

    /** Number of the last trade. */
    public long trade() {
        return getLong(48);
    }

    public void trade(long value) {
        setLong(48, value);
    }

    /** Working orders. */
    public long orders() {
        return getLong(56);
    }

    public void orders(long value) {
        setLong(56, value);
    }

    /** The newest `OrderImage.age_number`; beside a recorded or quoted market: places of records. */
    public int ageNumber() {
        return getInt(64);
    }

    public void ageNumber(int value) {
        setInt(64, value);
    }

    /** Instruments that are listed. */
    public int instruments() {
        return getInt(68);
    }

    public void instruments(int value) {
        setInt(68, value);
    }

    /** 1: the day is over. */
    public long ended() {
        return getLong(72);
    }

    public void ended(long value) {
        setLong(72, value);
    }
}
