// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** When a request was carried out, the market had been read so far. It holds for those that follow, until the next. */
public final class MarketRead extends Message {
    public static final int ID = 59;
    public static final int SIZE = 16;

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

    /** Position in `td.orders` of the request. */
    public long request() {
        return getLong(0);
    }

    public void request(long value) {
        setLong(0, value);
    }

    /** Position in `md.flow` or `md.quotes` of the last message before it. */
    public long market() {
        return getLong(8);
    }

    public void market(long value) {
        setLong(8, value);
    }
}
