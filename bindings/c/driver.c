/* Does with a journal what it is told on its standard input: bindings/conformance/README.md has the protocol. */
#include "colo.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static colo_registry *registry;
static colo_journal *journal;
static colo_reader *reader;
static colo_writer *writer;
static uint32_t seat;
static uint64_t capacity, epoch;

/* The words of a command that are not read yet. */
static char *rest;

static const char *word(void) {
    char *found = rest;
    if (found == NULL || *found == 0) return NULL;
    rest = strchr(found, ' ');
    if (rest != NULL) *rest++ = 0;
    return found;
}

/* A number; 0 if the word is none. */
static int number(const char *text, uint64_t *value) {
    char *end;
    if (text == NULL || *text < '0' || *text > '9') return 0;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *end == 0 && errno == 0;
}

static int next_number(uint64_t *value) { return number(word(), value); }

/* A number, or what `value` holds if there is no word. */
static int optional(uint64_t *value) {
    const char *text = word();
    return text == NULL || number(text, value);
}

static void refuse(const char *code, const char *text) { printf("error %s %s\n", code, text); }

static void usage(const char *text) { refuse("usage", text); }

static void failed(int code) {
    const char *name = "usage";
    switch (code) {
    case COLO_E_IO: name = "io"; break;
    case COLO_E_FOREIGN: name = "foreign"; break;
    case COLO_E_VERSION: name = "version"; break;
    case COLO_E_DAMAGED: name = "damaged"; break;
    case COLO_E_REPLACED: name = "replaced"; break;
    case COLO_E_WRITER_EXISTS: name = "writer-exists"; break;
    case COLO_E_SEAT_TAKEN: name = "seat-taken"; break;
    case COLO_E_TOO_LATE: name = "too-late"; break;
    case COLO_E_NO_SUCH_SEAT: name = "no-such-seat"; break;
    case COLO_E_NO_SUCH_POSITION: name = "no-such-position"; break;
    case COLO_E_FULL: name = "full"; break;
    case COLO_E_BATCH_FULL: name = "batch-full"; break;
    case COLO_E_TOO_LARGE: name = "too-large"; break;
    case COLO_E_NO_SUCH_TOPIC: name = "no-such-topic"; break;
    default: break;
    }
    refuse(name, colo_error());
}

static uint64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t checksum(const uint8_t *bytes, size_t length) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void say_frame(const colo_frame *frame) {
    uint32_t size = colo_record_size(frame);
    printf("frame %" PRIu64 " %u %u %u %" PRIu64 " %u %u %016" PRIx64 "\n", frame->position, frame->message_id, frame->topic,
           frame->flags, frame->time, frame->epoch, frame->length, checksum(frame->payload, frame->length));
    for (uint32_t i = 0; size != 0 && i < frame->length / size; i++)
        printf("record %" PRIu64 " %u %016" PRIx64 "\n", colo_record_position(frame, i), size,
               checksum(frame->payload + (size_t)i * size, size));
}

/* What `write`, `batch`, `records` and `half` have in common. */
struct request {
    uint64_t id, topic, length, seed, count;
    int is_forged;
};

static int parse(struct request *request) {
    const char *seed;
    if (!next_number(&request->id) || !next_number(&request->topic) || !next_number(&request->length)) return 0;
    seed = word();
    request->is_forged = seed != NULL && strcmp(seed, "forged") == 0;
    request->seed = 0;
    if (!request->is_forged && !number(seed, &request->seed)) return 0;
    request->count = 1;
    return optional(&request->count);
}

/* Payloads larger than any journal takes are still refused by the journal. */
static uint8_t bytes[COLO_MAX_PAYLOAD + 64];

static void fill(uint8_t *to, const struct request *request, uint64_t index, uint64_t position) {
    uint64_t length = request->length < sizeof bytes ? request->length : sizeof bytes;
    if (request->is_forged) {
        memset(to, 0, length);
        for (uint64_t i = 0; i + 8 <= length; i += 8) {
            uint64_t value = position + COLO_FRAME_PAYLOAD + i + capacity;
            memcpy(to + i, &value, 8);
        }
        return;
    }
    for (uint64_t i = 0; i < length; i++)
        to[i] = (uint8_t)((request->seed + index) * 167 + i * 31 + (i >> 8) * 13);
}

static uint64_t lines(uint64_t length) { return (COLO_FRAME_PAYLOAD + length + 63) & ~UINT64_C(63); }

/* Says a frame that was written, as its reader will. */
static void wrote(const struct request *request, uint64_t position, uint64_t time, uint16_t flags, const uint8_t *payload,
                  uint64_t length) {
    colo_frame frame;
    memset(&frame, 0, sizeof frame);
    frame.position = position;
    frame.message_id = (uint16_t)request->id;
    frame.topic = (uint32_t)request->topic;
    frame.flags = flags;
    frame.time = time;
    frame.epoch = (uint32_t)epoch;
    frame.length = (uint32_t)length;
    frame.payload = payload;
    say_frame(&frame);
}

static void done(uint64_t count) {
    uint64_t next;
    int code = colo_writer_position(writer, &next, NULL);
    if (code < 0) failed(code);
    else printf("ok %" PRIu64 " %" PRIu64 "\n", count, next);
}

static void command_write(void) {
    struct request request;
    uint64_t patience = 0, start = milliseconds(), position;
    colo_written written = {.struct_size = sizeof written};
    if (!parse(&request) || !optional(&patience)) return usage("write ID TOPIC LENGTH SEED COUNT MS");
    for (uint64_t i = 0; i < request.count; i++) {
        int code = colo_writer_position(writer, &position, NULL);
        if (code < 0) return failed(code);
        fill(bytes, &request, i, position);
        do {
            code = colo_write(writer, (uint16_t)request.id, (uint32_t)request.topic, bytes, request.length, &written);
            if (code == COLO_E_FULL) sched_yield();
        } while (code == COLO_E_FULL && milliseconds() - start < patience);
        if (code < 0) return failed(code);
        wrote(&request, written.position, written.time, 0, bytes, request.length);
    }
    done(request.count);
}

static void command_batch(void) {
    struct request request;
    colo_written written = {.struct_size = sizeof written};
    uint64_t position, next;
    int code;
    if (!parse(&request)) return usage("batch ID TOPIC LENGTH SEED COUNT");
    code = colo_writer_position(writer, &next, NULL);
    if (code >= 0) code = colo_begin_batch(writer);
    if (code < 0) return failed(code);
    for (uint64_t i = 0; i < request.count; i++) {
        fill(bytes, &request, i, next);
        code = colo_push(writer, (uint16_t)request.id, (uint32_t)request.topic, bytes, request.length, &position);
        if (code < 0) {
            failed(code);
            colo_abandon(writer);
            return;
        }
        next = position + lines(request.length);
    }
    code = colo_commit(writer, &written);
    if (code < 0) return failed(code);
    position = written.position;
    for (uint64_t i = 0; i < request.count; i++, position += lines(request.length)) {
        fill(bytes, &request, i, position);
        wrote(&request, position, written.time, 0, bytes, request.length);
    }
    done(request.count);
}

static void command_records(void) {
    struct request request;
    colo_written written = {.struct_size = sizeof written};
    int code;
    if (!parse(&request) || request.length * request.count > sizeof bytes) return usage("records ID TOPIC SIZE SEED COUNT");
    code = colo_claim_records(writer, (uint16_t)request.id, (uint32_t)request.topic, request.length, request.count);
    for (uint64_t i = 0; code >= 0 && i < request.count; i++) {
        uint8_t *record = bytes + i * request.length;
        fill(record, &request, i, 0);
        code = colo_put(writer, record, request.length);
    }
    if (code >= 0) code = colo_commit(writer, &written);
    if (code < 0) {
        failed(code);
        colo_abandon(writer);
        return;
    }
    wrote(&request, written.position, written.time, (uint16_t)request.length, bytes, request.length * request.count);
    done(1);
}

static void command_half(void) {
    struct request request;
    const char *what = word();
    uint64_t position;
    char line[256];
    int code;
    if (what == NULL || !parse(&request)) return usage("half frame|batch ID TOPIC LENGTH SEED COUNT");
    code = colo_writer_position(writer, &position, NULL);
    if (code < 0) return failed(code);
    if (strcmp(what, "batch") == 0) {
        code = colo_begin_batch(writer);
        for (uint64_t i = 0; code >= 0 && i < request.count; i++) {
            fill(bytes, &request, i, position);
            code = colo_push(writer, (uint16_t)request.id, (uint32_t)request.topic, bytes, request.length, NULL);
        }
    } else {
        code = colo_claim(writer, (uint16_t)request.id, (uint32_t)request.topic, request.length);
        fill(bytes, &request, 0, position);
        if (code >= 0) code = colo_put(writer, bytes, request.length);
    }
    if (code < 0) return failed(code);
    printf("ok %" PRIu64 "\n", position);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL && strcmp(line, "kill\n") != 0) {
        usage("a frame is begun: only `kill` is heard");
        fflush(stdout);
    }
    kill(getpid(), SIGKILL);
}

static void command_writer(void) {
    uint64_t wanted, position;
    int code;
    if (!next_number(&wanted)) return usage("writer SEAT");
    code = colo_attach_writer(journal, (uint32_t)wanted, registry, &writer);
    if (code >= 0) code = colo_writer_position(writer, &position, &epoch);
    if (code < 0) return failed(code);
    printf("ok %" PRIu64 " %" PRIu64 "\n", epoch, position);
}

static void command_skip(void) {
    uint64_t length, position;
    int code;
    if (!next_number(&length)) return usage("skip BYTES");
    code = colo_writer_position(writer, &position, NULL);
    if (code >= 0) code = colo_skip_to(writer, position + length);
    if (code < 0) return failed(code);
    printf("ok %" PRIu64 "\n", position + length);
}

static void reads(int code) {
    uint64_t position;
    if (code >= 0) code = colo_reader_position(reader, &position);
    if (code < 0) return failed(code);
    printf("ok %" PRIu64 "\n", position);
}

static void command_loose(void) {
    const char *where = word(), *start = word();
    colo_journal_state state = {.struct_size = sizeof state};
    uint64_t position = 0, wanted = 0;
    int code;
    if (start == NULL || (strcmp(where, "-") != 0 && !number(where, &wanted))) return usage("loose SEAT|- START");
    code = colo_journal_look(journal, &state);
    if (code < 0) return failed(code);
    if (strcmp(start, "head") == 0) position = state.head;
    else if (strcmp(start, "first") == 0) position = state.first;
    else if (strcmp(start, "oldest") == 0) code = colo_journal_oldest(journal, &position);
    else if (!number(start, &position)) return usage("START is head, first, oldest or a position");
    if (code < 0) return failed(code);
    seat = (uint32_t)wanted;
    if (strcmp(where, "-") == 0) reads(colo_observe(journal, position, &reader));
    else reads(colo_attach_loose(journal, seat, position, &reader));
}

static void command_gate(void) {
    uint64_t wanted;
    if (!next_number(&wanted)) return usage("gate SEAT");
    seat = (uint32_t)wanted;
    reads(colo_attach_gated(journal, seat, &reader));
}

/* One frame by a call of its own, several by batches: so both are held. */
static int read_some(uint64_t most, uint64_t *count) {
    colo_frame frame = {.struct_size = sizeof frame};
    colo_batch batch = {.struct_size = sizeof batch};
    int code, inside;
    if (most % 2 == 1) {
        code = colo_next(reader, &frame);
        if (code == 1) {
            say_frame(&frame);
            ++*count;
        }
        return code;
    }
    code = colo_next_batch(reader, (uint32_t)(most < 64 ? most : 64), &batch);
    if (code <= 0) return code;
    while ((inside = colo_batch_next(&batch, &frame)) == 1) {
        say_frame(&frame);
        ++*count;
    }
    return inside < 0 ? inside : code;
}

static void command_next(void) {
    uint64_t most, patience = 0, start = milliseconds(), count = 0, position;
    int code = 0;
    if (!next_number(&most) || !optional(&patience)) return usage("next COUNT MS");
    while (count < most) {
        code = read_some(most - count, &count);
        if (code == COLO_E_LAPPED) {
            colo_gap_bounds gap = {.struct_size = sizeof gap};
            code = colo_gap(reader, &gap);
            printf("gap %" PRIu64 " %" PRIu64 "\n", gap.from, gap.resumed_at);
        } else if (code == 0) {
            if (milliseconds() - start >= patience) break;
            sched_yield();
        }
        if (code < 0) break;
    }
    if (code >= 0) code = colo_release(reader);
    if (code >= 0) code = colo_reader_position(reader, &position);
    if (code < 0) return failed(code);
    printf("ok %" PRIu64 " %" PRIu64 "\n", count, position);
}

static void command_keep(void) {
    uint64_t position;
    int code;
    if (!next_number(&position)) return usage("keep POSITION");
    code = colo_keep(reader, position);
    if (code < 0) return failed(code);
    puts("ok");
}

static void command_interest(void) {
    uint32_t topics[64];
    uint64_t topic;
    size_t count = 0;
    const char *text = word();
    int is_all = text != NULL && strcmp(text, "all") == 0, code;
    for (; !is_all && text != NULL && count < 64; text = word())
        if (number(text, &topic)) topics[count++] = (uint32_t)topic;
    code = colo_journal_interest(journal, seat, is_all ? NULL : topics, count);
    if (code >= 0) code = colo_announce(registry);
    if (code < 0) return failed(code);
    puts("ok");
}

static void command_park(void) {
    static const char *const ends[] = {"news", "woken", "timeout"};
    uint64_t patience;
    int code;
    if (!next_number(&patience)) return usage("park MS");
    code = colo_park(registry, seat, &reader, 1, patience * 1000000);
    if (code < 0) return failed(code);
    printf("ok %s\n", ends[code]);
}

static void command_registry(void) {
    const char *path = word();
    int code = colo_registry_open(path, &registry);
    if (code < 0) return failed(code);
    puts("ok");
}

static void command_open(void) {
    const char *folder = word(), *name = word();
    colo_journal_state state = {.struct_size = sizeof state};
    char path[4096];
    uint64_t identity = 0;
    FILE *file;
    int code = colo_journal_open(folder, NULL, name, &journal);
    if (code >= 0) code = colo_journal_look(journal, &state);
    if (code < 0) return failed(code);
    capacity = state.capacity;
    snprintf(path, sizeof path, "%s/%s.ctl", folder, name);
    file = fopen(path, "rb");
    if (file == NULL || fseek(file, COLO_CONTROL_IDENTITY, SEEK_SET) != 0 || fread(&identity, 8, 1, file) != 1)
        return refuse("io", "the control file cannot be read");
    fclose(file);
    printf("ok %" PRIu64 " %" PRIu64 "\n", identity, state.head);
}

static void command_state(void) {
    static const char *const writers[] = {"none", "attached", "closed", "dead"};
    colo_journal_state state = {.struct_size = sizeof state};
    int code = colo_journal_look(journal, &state);
    if (code < 0) return failed(code);
    printf("ok %" PRIu64 " %s %" PRIu64 "\n", state.epoch, writers[state.writer], state.head);
}

static void command_kill(void) { kill(getpid(), SIGKILL); }

static void command_hello(void) { puts("ok c 1 write batch records skip half loose gate keep park oldest"); }

static const struct {
    const char *name;
    void (*run)(void);
} commands[] = {
    {"hello", command_hello}, {"registry", command_registry}, {"open", command_open}, {"state", command_state},
    {"writer", command_writer}, {"write", command_write}, {"batch", command_batch}, {"records", command_records},
    {"skip", command_skip}, {"half", command_half}, {"loose", command_loose}, {"gate", command_gate},
    {"next", command_next}, {"keep", command_keep}, {"interest", command_interest}, {"park", command_park},
    {"kill", command_kill},
};

int main(void) {
    char line[8192];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *name;
        size_t i, count = sizeof commands / sizeof *commands;
        line[strcspn(line, "\n")] = 0;
        rest = line;
        name = word();
        if (name != NULL && strcmp(name, "quit") == 0) break;
        for (i = 0; i < count && (name == NULL || strcmp(name, commands[i].name) != 0); i++) {}
        if (i < count) commands[i].run();
        else usage("no such command");
        fflush(stdout);
    }
    colo_reader_close(reader);
    colo_writer_close(writer);
    colo_journal_close(journal);
    colo_registry_close(registry);
    if (!feof(stdin)) puts("ok");
    return 0;
}
