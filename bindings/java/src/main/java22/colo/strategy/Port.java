package colo.strategy;

import colo.node.Counter;
import colo.node.Log;
import colo.wire.Message;

/** What a session uses of its surroundings. */
interface Port {
    long now();

    /** Commits one request. False: td is behind. */
    boolean send(Message request, int tallyClass);

    /** The latest whole quote of an instrument, into the bytes. */
    boolean depth(int instrument, byte[] to, int length);

    boolean account(long slot, byte[] to, int length);

    boolean keepsAccounts();

    void askState();

    void settleState();

    void count(Counter counter, long amount);

    void log(Log level, String text);
}
