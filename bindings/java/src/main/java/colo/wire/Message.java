package colo.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * A message: a view over bytes, which are not copied. One that is kept beyond a call reads what comes next; {@link #copy} keeps
 * it as it is. Reading and writing fields makes no garbage, except for text.
 */
public abstract class Message {
    /** Stands where there is no price. */
    public static final long NO_PRICE = Long.MIN_VALUE;
    /** One as prices count it: billionths of the currency. */
    public static final long ONE = 1_000_000_000L;
    /** One more than the greatest instrument's number. */
    public static final int MAX_INSTRUMENTS = 4096;

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

    private byte[] bytes;
    private int at;

    /** What stands in the frame's header. */
    public abstract int messageId();

    /** Bytes that it has. */
    public abstract int size();

    /** False if a field has a value that is not listed: it is damaged, or of another version. */
    public abstract boolean isValid();

    /** Views the bytes from an index on. */
    public final void wrap(byte[] bytes, int at) {
        this.bytes = bytes;
        this.at = at;
    }

    /** Views a payload, if it is such a message. */
    public final boolean decode(byte[] payload, int length) {
        if (length != size()) {
            return false;
        }
        wrap(payload, 0);
        return isValid();
    }

    /** Gives it zeros of its own. */
    @SuppressWarnings("unchecked")
    public final <M extends Message> M allocate() {
        wrap(new byte[size()], 0);
        return (M) this;
    }

    /** Gives it bytes of its own, if it has none. */
    public final void allocateOnce() {
        if (bytes == null) {
            allocate();
        }
    }

    /** Copies another one of its kind into its own bytes, and returns itself. */
    @SuppressWarnings("unchecked")
    public final <M extends Message> M copy(Message other) {
        if (other.messageId() != messageId()) {
            throw new IllegalArgumentException("message " + other.messageId() + " is no message " + messageId());
        }
        allocateOnce();
        System.arraycopy(other.bytes, other.at, bytes, at, size());
        return (M) this;
    }

    /** Zeros everywhere. */
    public final void clear() {
        Arrays.fill(bytes, at, at + size(), (byte) 0);
    }

    public final byte[] bytes() {
        return bytes;
    }

    public final int offset() {
        return at;
    }

    /** An index of a list; what lies before and behind it are other fields. */
    static int inside(int index, int count) {
        return Objects.checkIndex(index, count);
    }

    final byte getByte(int field) {
        return bytes[at + field];
    }

    final void setByte(int field, byte value) {
        bytes[at + field] = value;
    }

    final short getShort(int field) {
        return (short) SHORT.get(bytes, at + field);
    }

    final void setShort(int field, short value) {
        SHORT.set(bytes, at + field, value);
    }

    final int getInt(int field) {
        return (int) INT.get(bytes, at + field);
    }

    final void setInt(int field, int value) {
        INT.set(bytes, at + field, value);
    }

    final long getLong(int field) {
        return (long) LONG.get(bytes, at + field);
    }

    final void setLong(int field, long value) {
        LONG.set(bytes, at + field, value);
    }

    final String getText(int field, int size) {
        int length = 0;
        while (length < size && bytes[at + field + length] != 0) {
            length++;
        }
        return new String(bytes, at + field, length, StandardCharsets.UTF_8);
    }

    final void setText(int field, int size, String value) {
        byte[] text = value.getBytes(StandardCharsets.UTF_8);
        if (text.length > size) {
            throw new IllegalArgumentException("`" + value + "` has more than " + size + " bytes");
        }
        Arrays.fill(bytes, at + field, at + field + size, (byte) 0);
        System.arraycopy(text, 0, bytes, at + field, text.length);
    }

    final void getBytes(int field, int size, byte[] to) {
        System.arraycopy(bytes, at + field, to, 0, Math.min(size, to.length));
    }
}
