// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** An order's state changed, or a request about it was refused. */
public final class OrderUpdate extends Message {
    public static final int ID = 20;
    public static final int SIZE = 88;

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
        return Side.of(getByte(12)) != null
            && OrderStatus.of(getByte(13)) != null
            && Reason.of(getByte(14)) != null;
    }

    /** Which order. */
    public long orderId() {
        return getLong(0);
    }

    public void orderId(long value) {
        setLong(0, value);
    }

    /** Its instrument. */
    public int instrument() {
        return getInt(8);
    }

    public void instrument(int value) {
        setInt(8, value);
    }

    /** Its side. */
    public Side side() {
        return Side.of(getByte(12));
    }

    public void side(Side value) {
        setByte(12, value.value());
    }

    /** Its status after this. */
    public OrderStatus status() {
        return OrderStatus.of(getByte(13));
    }

    public void status(OrderStatus value) {
        setByte(13, value.value());
    }

    /** Why, when rejected or cancelled. */
    public Reason reason() {
        return Reason.of(getByte(14));
    }

    public void reason(Reason value) {
        setByte(14, value.value());
    }

    /** Its limit price. */
    public long price() {
        return getLong(16);
    }

    public void price(long value) {
        setLong(16, value);
    }

    /** Its total quantity. */
    public long quantity() {
        return getLong(24);
    }

    public void quantity(long value) {
        setLong(24, value);
    }

    /** How much of it has traded. */
    public long filled() {
        return getLong(32);
    }

    public void filled(long value) {
        setLong(32, value);
    }

    /** How much of it still works; zero once final. */
    public long remaining() {
        return getLong(40);
    }

    public void remaining(long value) {
        setLong(40, value);
    }

    /** Market time of the event that caused it; zero where there is none: in what td refuses, and in rejections beside a recorded or quoted market to which requests take no time. It may go back once: in the ends of orders whose books were lost, which have the time of the order's last update. */
    public long eventTime() {
        return getLong(48);
    }

    public void eventTime(long value) {
        setLong(48, value);
    }

    /** Position in `matching.executions` of the frame that this passes on or restates: set by td in reports and by the ledger in snapshots. Zero in `matching.executions` itself, and in a refusal by td, which passes nothing on. */
    public long execution() {
        return getLong(56);
    }

    public void execution(long value) {
        setLong(56, value);
    }

    /** Position in `td.orders` of the last request that matching had taken when it wrote this: it, and all before it, are answered. Zero before the first request, and in a refusal by td. */
    public long answeredUpTo() {
        return getLong(64);
    }

    public void answeredUpTo(long value) {
        setLong(64, value);
    }

    /** In a refusal by td: position of the refused request in its strategy's journal of orders. Otherwise zero. */
    public long refusedRequest() {
        return getLong(72);
    }

    public void refusedRequest(long value) {
        setLong(72, value);
    }

    /** In a refusal by td: position in `matching.executions` of the last frame that td had passed on in this journal of reports. Otherwise zero. */
    public long reportedUpTo() {
        return getLong(80);
    }

    public void reportedUpTo(long value) {
        setLong(80, value);
    }
}
