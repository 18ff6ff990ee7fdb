// Handles of C++ in a child of a fork: refused there, and its destructors change nothing here. Exits with 0 when all of it held.
// Argument: the folder of a journal `t`.
#include <colo.hpp>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(what)                                                                                                     \
    do {                                                                                                                 \
        if (!(what)) {                                                                                                   \
            std::fprintf(stderr, "line %d: %s; %s\n", __LINE__, #what, colo_error());                                    \
            return 1;                                                                                                    \
        }                                                                                                                \
    } while (0)

int main(int count, char **arguments) {
    EXPECT(count == 2);
    auto journal = colo::journal::open(arguments[1], "t");
    EXPECT(journal);
    auto writer = journal->write(1);
    auto reader = journal->gated(3);
    EXPECT(writer && reader && writer->write(7, 3, "before", 6));
    std::fflush(nullptr);
    const pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        auto refused = writer->write(7, 3, "x", 1);
        EXPECT(!refused && refused.code() == COLO_E_FORKED);
        auto again = journal->write(1);
        EXPECT(!again && again.code() == COLO_E_FORKED);
        // The destructors of all handles run.
        return 0;
    }
    int ended = 1;
    EXPECT(waitpid(child, &ended, 0) == child && ended == 0);
    EXPECT(journal->look().writer == COLO_WRITER_ATTACHED);
    auto again = journal->write(1);
    EXPECT(!again && again.code() == COLO_E_WRITER_EXISTS);
    EXPECT(writer->write(7, 3, "behind", 6));
    int frames = 0;
    EXPECT(reader->next_batch(9, [&](const colo::frame &) { ++frames; }) && frames == 2);
    std::puts("held");
    return 0;
}
