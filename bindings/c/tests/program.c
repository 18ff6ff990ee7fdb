/* Uses the journals of the library as a stranger would; exits with the number of the line that did not hold.
 * Arguments: the folder of a journal `t` with 64 seats, 16 topics and a ring of 64 KiB, of a journal `torn`, and of a registry. */
#define _POSIX_C_SOURCE 200809L
#include <colo.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(what)                                                                                                     \
    do {                                                                                                                 \
        if (!(what)) {                                                                                                   \
            fprintf(stderr, "line %d: %s; %s\n", __LINE__, #what, colo_error());                                         \
            return 1;                                                                                                    \
        }                                                                                                                \
    } while (0)

int main(int count, char **arguments) {
    char path[4096];
    colo_registry *registry = NULL;
    colo_journal *journal = NULL, *other = NULL;
    colo_writer *writer = NULL, *second = NULL;
    colo_reader *gated = NULL, *loose = NULL, *second_reader = NULL;
    colo_frame frame = {.struct_size = sizeof frame};
    colo_batch batch = {.struct_size = sizeof batch};
    colo_gap_bounds gap = {.struct_size = sizeof gap};
    colo_journal_state state = {.struct_size = sizeof state};
    colo_written written = {.struct_size = sizeof written};
    uint64_t position, start;
    uint32_t topics[] = {3};
    pid_t child;
    int ended = 1;
    EXPECT(count == 2);
    snprintf(path, sizeof path, "%s/registry", arguments[1]);
    EXPECT(colo_registry_open(path, &registry) == 0);

    /* What is not there, not given, or of another size. */
    EXPECT(colo_journal_open(arguments[1], NULL, "nothing", &other) == COLO_E_IO && other == NULL);
    EXPECT(strstr(colo_error(), "nothing.ctl") != NULL);
    EXPECT(colo_journal_open(NULL, NULL, "t", &other) == COLO_E_NULL);
    EXPECT(colo_journal_open(arguments[1], NULL, "\xff", &other) == COLO_E_ARGUMENT);
    EXPECT(colo_journal_open(arguments[1], NULL, "t", NULL) == COLO_E_NULL);
    EXPECT(colo_journal_open_read_only(arguments[1], NULL, "nothing", NULL) == COLO_E_NULL);
    EXPECT(colo_registry_open("/nothing", NULL) == COLO_E_NULL);
    snprintf(path, sizeof path, "../%s/t", strrchr(arguments[1], '/') + 1);
    EXPECT(colo_journal_open(arguments[1], NULL, path, &other) == COLO_E_ARGUMENT && other == NULL);
    EXPECT(strstr(colo_error(), "no name of a journal") != NULL);
    EXPECT(colo_journal_open_read_only(arguments[1], NULL, "./t", &other) == COLO_E_ARGUMENT && other == NULL);
    EXPECT(colo_journal_open(arguments[1], NULL, "t", &journal) == 0);
    EXPECT(colo_journal_look(journal, &state) == 0 && state.writer == COLO_WRITER_NONE && state.capacity == 65536);
    state.struct_size--;
    EXPECT(colo_journal_look(journal, &state) == COLO_E_SIZE);
    EXPECT(colo_next(NULL, &frame) == COLO_E_NULL);
    EXPECT(strlen(colo_code_text(COLO_E_SIZE)) > 0 && strlen(colo_code_text(-999)) > 0);

    start = state.head;
    EXPECT(colo_attach_gated(journal, 3, &gated) == 0);
    EXPECT(colo_attach_gated(journal, 3, &loose) == COLO_E_SEAT_TAKEN && loose == NULL);
    EXPECT(colo_attach_gated(journal, 64, &loose) == COLO_E_NO_SUCH_SEAT);
    EXPECT(colo_observe(journal, 1, &loose) == COLO_E_NO_SUCH_POSITION);
    EXPECT(colo_observe(journal, 0, &loose) == COLO_E_NO_SUCH_POSITION);
    EXPECT(colo_observe(journal, start + 64, &loose) == COLO_E_NO_SUCH_POSITION && loose == NULL);
    EXPECT(colo_observe(journal, UINT64_C(1) << 62, &loose) == COLO_E_NO_SUCH_POSITION);
    EXPECT(colo_attach_loose(journal, 5, start - 64, &loose) == COLO_E_NO_SUCH_POSITION && loose == NULL);
    EXPECT(colo_observe(journal, start, &loose) == 0);
    EXPECT(colo_attach_writer(journal, 1, registry, &writer) == 0);
    EXPECT(colo_attach_writer(journal, 1, registry, &second) == COLO_E_WRITER_EXISTS);

    /* One frame, read twice. */
    EXPECT(colo_next(gated, &frame) == 0);
    EXPECT(colo_write(writer, 7, 3, "hello", 5, &written) == 0 && written.position == start && written.next == start + 64);
    EXPECT(colo_next(gated, &frame) == 1 && frame.position == start && frame.length == 5 && frame.topic == 3);
    EXPECT(memcmp(frame.payload, "hello", 5) == 0 && frame.message_id == 7 && frame.flags == 0 && frame.time == written.time);
    EXPECT(colo_next(loose, &frame) == 1 && frame.position == start && memcmp(frame.payload, "hello", 5) == 0);
    EXPECT(colo_next(gated, &frame) == 0 && colo_next(loose, &frame) == 0);
    frame.struct_size = 1;
    EXPECT(colo_next(gated, &frame) == COLO_E_SIZE);
    frame.struct_size = sizeof frame;

    /* Refusals. */
    EXPECT(colo_write(writer, 7, 16, "x", 1, NULL) == COLO_E_NO_SUCH_TOPIC);
    EXPECT(colo_write(writer, 7, 3, NULL, 1, NULL) == COLO_E_NULL);
    EXPECT(colo_put(writer, "x", 1) == COLO_E_ORDER_OF_CALLS && colo_commit(writer, NULL) == COLO_E_ORDER_OF_CALLS);

    /* A claim, filled in pieces; while it is begun nothing else goes. */
    EXPECT(colo_claim(writer, 8, 3, 100) == 0);
    EXPECT(colo_write(writer, 7, 3, "x", 1, NULL) == COLO_E_ORDER_OF_CALLS);
    EXPECT(colo_claim(writer, 8, 3, 100) == COLO_E_ORDER_OF_CALLS);
    EXPECT(colo_put(writer, "hel", 3) == 0 && colo_put(writer, "lo", 2) == 0);
    EXPECT(colo_put(writer, path, 96) == COLO_E_PAST_CLAIM);
    EXPECT(colo_next(gated, &frame) == 0);
    EXPECT(colo_commit(writer, &written) == 0 && colo_next(gated, &frame) == 1 && frame.length == 5);
    EXPECT(colo_claim(writer, 8, 3, 100) == 0 && colo_put(writer, "gone", 4) == 0 && colo_abandon(writer) == 0);
    EXPECT(colo_next(gated, &frame) == 0);

    /* A batch, stepped through without calls. */
    EXPECT(colo_begin_batch(writer) == 0 && colo_commit(writer, NULL) == 1);
    EXPECT(colo_begin_batch(writer) == 0);
    for (int i = 0; i < 5; i++) EXPECT(colo_push(writer, 9, 4, &i, sizeof i, &position) == 0);
    EXPECT(colo_next_batch(gated, 100, &batch) == 0);
    EXPECT(colo_commit(writer, &written) == 0);
    EXPECT(colo_skip_to(writer, position + 64 + 640) == 0 && colo_skip_to(writer, start) == COLO_E_NOT_AHEAD);
    EXPECT(colo_write(writer, 7, 3, "behind", 6, &written) == 0);
    EXPECT(colo_next_batch(gated, 3, &batch) == 3);
    for (int i = 0, found; i < 3; i++) {
        EXPECT(colo_batch_next(&batch, &frame) == 1 && frame.length == sizeof found);
        memcpy(&found, frame.payload, sizeof found);
        EXPECT(found == i && frame.message_id == 9);
    }
    EXPECT(colo_batch_next(&batch, &frame) == 0);
    EXPECT(colo_next_batch(gated, 100, &batch) == 4); /* two, the gap, and one behind it */
    EXPECT(colo_batch_next(&batch, &frame) == 1 && colo_batch_next(&batch, &frame) == 1);
    EXPECT(colo_batch_next(&batch, &frame) == 1 && frame.position == written.position && frame.length == 6);
    EXPECT(colo_batch_next(&batch, &frame) == 0);

    /* Records. */
    EXPECT(colo_claim_records(writer, 10, 3, 0, 5) == COLO_E_RECORD_SIZE);
    EXPECT(colo_claim_records(writer, 10, 3, 4, 5) == 0 && colo_put(writer, "abc", 3) == COLO_E_RECORD_SIZE);
    EXPECT(colo_put(writer, "abcd", 4) == 0 && colo_put(writer, "efgh", 4) == 0 && colo_commit(writer, NULL) == 0);
    EXPECT(colo_next(gated, &frame) == 1 && colo_record_size(&frame) == 4 && frame.length == 8);
    EXPECT(colo_record_position(&frame, 1) == frame.position + 36);

    /* Sleeping: nothing comes, and what is there is news. */
    EXPECT(colo_journal_interest(journal, 3, topics, 1) == 0 && colo_announce(registry) == 0);
    EXPECT(colo_park(registry, 3, &gated, 1, 1000000) == COLO_PARK_TIMEOUT);
    EXPECT(colo_park(registry, 64, &gated, 1, 1000000) == COLO_E_NO_SUCH_SEAT);
    EXPECT(colo_write(writer, 7, 3, "news", 4, NULL) == 0);
    EXPECT(colo_park(registry, 3, &gated, 1, UINT64_C(60000000000)) == COLO_PARK_NEWS);

    /* A child of a fork is refused, and its end changes nothing here. */
    EXPECT(colo_claim(writer, 8, 3, 100) == 0 && colo_put(writer, "begun", 5) == 0);
    fflush(NULL);
    child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        other = NULL;
        EXPECT(colo_put(writer, "x", 1) == COLO_E_FORKED && strstr(colo_error(), "is a fork of it") != NULL);
        EXPECT(colo_commit(writer, NULL) == COLO_E_FORKED && colo_abandon(writer) == 0);
        EXPECT(colo_write(writer, 7, 3, "x", 1, NULL) == COLO_E_FORKED && colo_begin_batch(writer) == 0);
        EXPECT(colo_push(writer, 7, 3, "x", 1, NULL) == COLO_E_FORKED && colo_abandon(writer) == 0);
        EXPECT(colo_claim_records(writer, 7, 3, 4, 1) == COLO_E_FORKED && colo_skip_to(writer, 0) == COLO_E_FORKED);
        EXPECT(colo_next(gated, &frame) == COLO_E_FORKED && colo_next_batch(gated, 9, &batch) == COLO_E_FORKED);
        EXPECT(colo_next(loose, &frame) == COLO_E_FORKED && colo_next_batch(loose, 9, &batch) == COLO_E_FORKED);
        EXPECT(colo_park(registry, 3, &gated, 1, 1) == COLO_E_FORKED && colo_announce(registry) == COLO_E_FORKED);
        EXPECT(colo_attach_writer(journal, 1, registry, &second) == COLO_E_FORKED && second == NULL);
        EXPECT(colo_attach_gated(journal, 9, &second_reader) == COLO_E_FORKED);
        state.struct_size = sizeof state;
        EXPECT(colo_journal_look(journal, &state) == COLO_E_FORKED);
        EXPECT(colo_journal_interest(journal, 3, topics, 1) == COLO_E_FORKED);
        colo_writer_close(writer);
        colo_reader_close(gated);
        colo_reader_close(loose);
        colo_journal_close(journal);
        colo_registry_close(registry);
        return 0;
    }
    EXPECT(waitpid(child, &ended, 0) == child && ended == 0);
    EXPECT(colo_commit(writer, &written) == 0 && colo_next(gated, &frame) == 1 && frame.length == 4);
    EXPECT(colo_next(gated, &frame) == 1 && frame.length == 5 && frame.position == written.position);
    EXPECT(colo_attach_writer(journal, 1, registry, &second) == COLO_E_WRITER_EXISTS);
    EXPECT(colo_attach_gated(journal, 3, &second_reader) == COLO_E_SEAT_TAKEN);

    /* Full, and what is kept. */
    EXPECT(colo_reader_position(gated, &position) == 0 && colo_keep(gated, position) == 0);
    EXPECT(colo_keep(loose, position) == COLO_E_ARGUMENT);
    while (colo_write(writer, 7, 3, path, 900, &written) == 0) EXPECT(colo_next(gated, &frame) == 1);
    EXPECT(colo_write(writer, 7, 3, path, 900, NULL) == COLO_E_FULL);
    while (colo_next(gated, &frame) == 1) {}
    EXPECT(colo_write(writer, 7, 3, path, 900, NULL) == COLO_E_FULL);
    EXPECT(colo_reader_position(gated, &position) == 0 && colo_keep(gated, position) == 0);
    EXPECT(colo_write(writer, 7, 3, path, 900, NULL) == 0 && colo_next(gated, &frame) == 1 && colo_release(gated) == 0);

    /* The loose reader slept through it. */
    EXPECT(colo_next(loose, &frame) == COLO_E_LAPPED && colo_gap(loose, &gap) == 0);
    EXPECT(gap.resumed_at > gap.from && strstr(colo_error(), "lost") != NULL);
    EXPECT(colo_reader_topics(loose, topics, 1) == 0);
    EXPECT(colo_write(writer, 7, 4, "not", 3, NULL) == 0 && colo_write(writer, 7, 3, "this", 4, NULL) == 0);
    EXPECT(colo_next(loose, &frame) == 1 && frame.topic == 3);
    EXPECT(colo_journal_oldest(journal, &position) == 0 && position > start);

    colo_reader_close(gated);
    colo_reader_close(loose);
    colo_reader_close(NULL);

    /* Positions of frames are taken, those around all frames are not. */
    gated = loose = NULL;
    EXPECT(colo_journal_look(journal, &state) == COLO_E_SIZE);
    state.struct_size = sizeof state;
    EXPECT(colo_journal_look(journal, &state) == 0 && colo_journal_oldest(journal, &position) == 0);
    EXPECT(colo_observe(journal, state.head + 64, &loose) == COLO_E_NO_SUCH_POSITION);
    EXPECT(colo_observe(journal, state.head, &loose) == 0 && colo_next(loose, &frame) == 0);
    colo_reader_close(loose);
    EXPECT(colo_observe(journal, position, &loose) == 0 && colo_next(loose, &frame) == 1);
    colo_reader_close(loose);

    /* Its intent lies before its head. */
    loose = NULL;
    EXPECT(colo_journal_open_read_only(arguments[1], NULL, "torn", &other) == 0);
    EXPECT(colo_journal_look(other, &state) == 0 && state.frames == 3);
    EXPECT(colo_observe(other, state.first, &loose) == COLO_E_DAMAGED && loose == NULL);
    colo_journal_close(other);
    EXPECT(colo_claim(writer, 8, 3, 100) == 0);
    colo_writer_close(writer);
    state.struct_size = sizeof state;
    EXPECT(colo_journal_look(journal, &state) == 0 && state.writer == COLO_WRITER_CLOSED && state.epoch == 1);
    colo_journal_close(journal);
    colo_registry_close(registry);
    puts("held");
    return 0;
}
