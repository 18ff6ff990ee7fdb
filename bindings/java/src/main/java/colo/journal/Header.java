package colo.journal;

import colo.journal.JournalException.Code;
import colo.layout.Journals;
import java.nio.charset.StandardCharsets;
import java.util.function.IntToLongFunction;

/** What a control page says that never changes, checked. */
record Header(String name, int id, long capacity, int seats, int topics, int maxPayload, long page, long first, long identity) {
    static Header check(String path, long size, IntToLongFunction word) {
        if (size < Journals.CONTROL_CURSORS) {
            throw new JournalException(Code.DAMAGED, path, "its control file has " + size + " bytes");
        }
        long magic = word.applyAsLong(Journals.CONTROL_MAGIC);
        if (magic != Journals.CONTROL_MAGIC_WORD) {
            throw new JournalException(Code.FOREIGN, path, "its magic is 0x" + Long.toHexString(magic));
        }
        long version = word.applyAsLong(Journals.CONTROL_VERSION);
        long hash = word.applyAsLong(Journals.CONTROL_LAYOUT_HASH);
        if (version != Journals.FORMAT_VERSION || hash != Journals.LAYOUT_HASH) {
            throw new JournalException(Code.VERSION, path, "format " + version + ", layout 0x" + Long.toHexString(hash)
                + "; known are format " + Journals.FORMAT_VERSION + ", layout 0x" + Long.toHexString(Journals.LAYOUT_HASH));
        }
        long capacity = word.applyAsLong(Journals.CONTROL_CAPACITY);
        damaged(Long.bitCount(capacity) != 1 || capacity < Journals.MIN_CAPACITY || capacity > Journals.MAX_CAPACITY,
            path, "its capacity is " + capacity);
        long tables = word.applyAsLong(Journals.CONTROL_TABLES);
        int seats = (int) tables;
        int topics = (int) (tables >>> 32);
        damaged(seats <= 0 || seats % 64 != 0 || seats > Journals.MAX_SEATS || topics <= 0 || topics > Journals.MAX_TOPICS,
            path, "it has " + seats + " seats and " + topics + " topics");
        long payload = word.applyAsLong(Journals.CONTROL_MAX_PAYLOAD);
        damaged(payload < 0 || payload > Math.min(capacity / 8, Journals.MAX_PAYLOAD) - Journals.FRAME_PAYLOAD,
            path, "its largest payload is " + payload + " bytes");
        long id = word.applyAsLong(Journals.CONTROL_ID);
        long exponent = id >>> 32;
        damaged(exponent < 12 || exponent > Long.numberOfTrailingZeros(capacity), path, "its pages have 2^" + exponent + " bytes");
        byte[] name = new byte[64];
        for (int at = 0; at < 64; at++) {
            name[at] = (byte) (word.applyAsLong(Journals.CONTROL_NAME + (at & ~7)) >>> (at & 7) * 8);
        }
        int length = 0;
        while (length < 64 && isInside(name[length])) {
            length++;
        }
        boolean isName = length > 0 && length < 64 && name[0] != '.';
        for (int at = length; at < 64; at++) {
            isName &= name[at] == 0;
        }
        damaged(!isName, path, "its name is no name");
        long first = word.applyAsLong(Journals.CONTROL_FIRST);
        damaged(first % Journals.LINE_BYTES != 0 || first < capacity, path, "its first position is " + first);
        Header header = new Header(new String(name, 0, length, StandardCharsets.US_ASCII), (int) id, capacity, seats, topics,
            (int) payload, 1L << exponent, first, word.applyAsLong(Journals.CONTROL_IDENTITY));
        long end = header.interest(topics) + 4095 & ~4095L;
        damaged(size != end, path, "its control file has " + size + " bytes and should have " + end);
        return header;
    }

    private static boolean isInside(byte letter) {
        return letter >= 'a' && letter <= 'z' || letter >= '0' && letter <= '9' || letter == '.' || letter == '_' || letter == '-';
    }

    private static void damaged(boolean is, String path, String detail) {
        if (is) {
            throw new JournalException(Code.DAMAGED, path, detail);
        }
    }

    /**
     * Holds head and intent against each other. The intent was loaded before the head, so that it is never too far ahead, and
     * again after it, so that it never lies behind.
     */
    void checkPositions(long intent, long head, long after) {
        damaged(head % Journals.LINE_BYTES != 0 || head < first, name, "its head " + head + " is no possible position");
        damaged(Long.compareUnsigned(intent, head) > 0 && Long.compareUnsigned(intent - head, capacity / 4 + Journals.LINE_BYTES) > 0,
            name, "its intent " + intent + " is too far ahead of its head " + head);
        damaged(Long.compareUnsigned(after, head) < 0, name, "its intent " + after + " lies before its head " + head);
    }

    /** Where a topic's row begins. */
    long interest(int topic) {
        return Journals.CONTROL_CURSORS + (long) seats * Journals.LINE_BYTES + (long) topic * (seats / 64) * 8;
    }

    static long cursor(int seat) {
        return Journals.CONTROL_CURSORS + (long) seat * Journals.LINE_BYTES;
    }

    /** Bytes that a frame takes of the ring. */
    static long frameBytes(long length) {
        return Journals.FRAME_PAYLOAD + length + Journals.LINE_BYTES - 1 & -Journals.LINE_BYTES;
    }
}
