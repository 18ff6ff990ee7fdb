/* Reads, writes and sleeps as it is told on its standard input, and says how long it took: bindings/README.md has the protocol. */
#include <colo.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Longest that a sleeper waits for a message. */
#define PATIENCE_NS UINT64_C(20000000000)
#define SAFETY_TIMEOUT_NS UINT64_C(100000000)

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t first_word(const colo_frame *frame) {
    uint64_t word;
    memcpy(&word, frame->payload, sizeof word);
    return word;
}

/* The words of a command behind its name; a missing one is empty. */
static const char *word(void) {
    const char *found = strtok(NULL, " \n");
    return found == NULL ? "" : found;
}

static uint64_t number(void) { return strtoull(word(), NULL, 10); }

static void failed(void) { printf("error %s\n", colo_error()); }

static int open_journal(colo_journal **journal) {
    const char *folder = word(), *name = word();
    return colo_journal_open(folder, NULL, name, journal);
}

static void command_read(int in_batches) {
    colo_journal *journal;
    colo_journal_state state = {.struct_size = sizeof state};
    colo_frame frame = {.struct_size = sizeof frame};
    colo_batch batch = {.struct_size = sizeof batch};
    uint64_t rounds, frames = 0, sum = 0, time = 0;
    if (open_journal(&journal) < 0 || colo_journal_look(journal, &state) < 0) return failed();
    rounds = number();
    for (uint64_t round = 0; round < rounds; round++) {
        colo_reader *reader;
        uint64_t begin;
        if (colo_observe(journal, state.first, &reader) < 0) return failed();
        begin = now_ns();
        if (in_batches) {
            while (colo_next_batch(reader, 64, &batch) > 0)
                while (colo_batch_next(&batch, &frame) == 1) {
                    sum += first_word(&frame);
                    frames++;
                }
        } else {
            while (colo_next(reader, &frame) == 1) {
                sum += first_word(&frame);
                frames++;
            }
        }
        time += now_ns() - begin;
        colo_reader_close(reader);
    }
    colo_journal_close(journal);
    printf("ok %" PRIu64 " %" PRIu64 " %" PRIu64 " -\n", frames, time, sum);
}

static void command_write(void) {
    static uint8_t payload[COLO_MAX_PAYLOAD];
    colo_journal *journal;
    colo_registry *registry;
    colo_writer *writer;
    uint64_t count, bytes, begin, time;
    if (open_journal(&journal) < 0 || colo_registry_open(word(), &registry) < 0) return failed();
    count = number();
    bytes = number();
    if (bytes > sizeof payload) {
        puts("error that many bytes are no payload");
        return;
    }
    memset(payload, 7, bytes);
    if (colo_attach_writer(journal, 0, registry, &writer) < 0) return failed();
    begin = now_ns();
    for (uint64_t i = 0; i < count; i++)
        if (colo_write(writer, 1, 0, payload, bytes, NULL) < 0) return failed();
    time = now_ns() - begin;
    colo_writer_close(writer);
    colo_registry_close(registry);
    colo_journal_close(journal);
    printf("ok %" PRIu64 " %" PRIu64 " -\n", count, time);
}

static void command_wake(void) {
    colo_journal *journal;
    colo_registry *registry;
    colo_reader *reader;
    colo_journal_state state = {.struct_size = sizeof state};
    colo_frame frame = {.struct_size = sizeof frame};
    const uint32_t none = 0;
    uint64_t count, done = 0, last, *times;
    uint32_t seat;
    if (open_journal(&journal) < 0 || colo_registry_open(word(), &registry) < 0) return failed();
    seat = (uint32_t)number();
    count = number();
    times = calloc(count, sizeof *times);
    if (times == NULL) {
        puts("error no memory");
        return;
    }
    if (colo_journal_look(journal, &state) < 0 || colo_attach_loose(journal, seat, state.head, &reader) < 0 ||
        colo_journal_interest(journal, seat, NULL, 0) < 0 || colo_announce(registry) < 0)
        return failed();
    puts("ready");
    fflush(stdout);
    last = now_ns();
    while (done < count) {
        int code = colo_next(reader, &frame);
        if (code == 1) {
            last = now_ns();
            times[done++] = last - first_word(&frame);
        } else if (code < 0) {
            return failed();
        } else if (now_ns() - last > PATIENCE_NS) {
            puts("error no message came");
            return;
        } else if (colo_park(registry, seat, &reader, 1, SAFETY_TIMEOUT_NS) < 0) {
            return failed();
        }
    }
    colo_journal_interest(journal, seat, &none, 0);
    colo_reader_close(reader);
    colo_registry_close(registry);
    colo_journal_close(journal);
    printf("ok");
    for (uint64_t i = 0; i < count; i++) printf(" %" PRIu64, times[i]);
    putchar('\n');
    free(times);
}

int main(void) {
    char line[8192];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *command = strtok(line, " \n");
        if (command == NULL || strcmp(command, "quit") == 0) break;
        if (strcmp(command, "hello") == 0) puts("ok c 1 read batch write wake");
        else if (strcmp(command, "read") == 0) command_read(0);
        else if (strcmp(command, "batch") == 0) command_read(1);
        else if (strcmp(command, "write") == 0) command_write();
        else if (strcmp(command, "wake") == 0) command_wake();
        else printf("error there is no command `%s`\n", command);
        fflush(stdout);
    }
    return 0;
}
