/* Reads a journal from its first frame on, as often as it is told, and prints the nanoseconds a frame of each time.
 * Arguments: the folder, `next`, `batch` or `gated`, the first seat, how often. */
#include <colo.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    colo_journal *journal;
    colo_journal_state state = {.struct_size = sizeof state};
    colo_frame frame = {.struct_size = sizeof frame};
    colo_batch batch = {.struct_size = sizeof batch};
    if (count != 5 || colo_journal_open(arguments[1], NULL, "t", &journal) < 0 || colo_journal_look(journal, &state) < 0) return 1;
    for (int round = 0; round < atoi(arguments[4]); round++) {
        colo_reader *reader;
        uint64_t sum = 0, word;
        long frames = 0;
        double start, end;
        int code = strcmp(arguments[2], "gated") == 0 ? colo_attach_gated(journal, (uint32_t)(atoi(arguments[3]) + round), &reader)
                                                      : colo_observe(journal, state.first, &reader);
        if (code < 0) {
            fputs(colo_error(), stderr);
            return 1;
        }
        start = seconds();
        if (strcmp(arguments[2], "batch") == 0) {
            while (colo_next_batch(reader, 64, &batch) > 0)
                while (colo_batch_next(&batch, &frame) == 1) {
                    memcpy(&word, frame.payload, sizeof word);
                    sum += word;
                    frames++;
                }
        } else {
            while (colo_next(reader, &frame) == 1) {
                memcpy(&word, frame.payload, sizeof word);
                sum += word;
                frames++;
            }
        }
        end = seconds();
        printf("%.2f %ld %" PRIu64 "\n", (end - start) * 1e9 / (double)frames, frames, sum);
        colo_reader_close(reader);
    }
    return 0;
}
