// Made by `cargo xtask gen` from the table of fields. DO NOT EDIT.
package colo.wire;

/** Who is behind the order that follows it in the same batch: a client of the gateway. td passes it over; the gateway reads it back after a restart, and a recording of the journal says for ever whose an order was. */
public final class ClientOrder extends Message {
    public static final int ID = 16;
    public static final int SIZE = 120;
    /** It must end when the client's connection ends, that of a gateway that was killed among them. */
    public static final int ENDS_WITH_SESSION = 1;

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

    /** The order. */
    public long orderId() {
        return getLong(0);
    }

    public void orderId(long value) {
        setLong(0, value);
    }

    /** The token that it came with, by its public number. */
    public long token() {
        return getLong(8);
    }

    public void token(long value) {
        setLong(8, value);
    }

    /** What the client calls it, unique among the orders for the account; empty: nothing. */
    public String clientId() {
        return getText(16, 48);
    }

    public void clientId(String value) {
        setText(16, 48, value);
    }

    /** The client's address, as text; "unix" for a local socket. */
    public String address() {
        return getText(64, 48);
    }

    public void address(String value) {
        setText(64, 48, value);
    }

    /** For which account. */
    public int account() {
        return getInt(112);
    }

    public void account(int value) {
        setInt(112, value);
    }

    /** What becomes of it. */
    public int flags() {
        return getInt(116);
    }

    public void flags(int value) {
        setInt(116, value);
    }
}
