/* What is too small to be a call: steps through the frames of a batch. Programs include colo.h. */
#ifndef COLO_INLINE_H
#define COLO_INLINE_H

#include <string.h>

#include "colo_functions.h"
#include "colo_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The next frame of the batch: 1 and the frame, 0 behind the last, or COLO_E_DAMAGED. Void frames are passed over. */
static inline int colo_batch_next(colo_batch *batch, colo_frame *frame) {
    while (batch->offset < batch->length) {
        const uint8_t *header = batch->bytes + batch->offset;
        uint32_t length;
        uint16_t flags;
        uint64_t end;
        memcpy(&length, header + COLO_FRAME_LENGTH, sizeof length);
        memcpy(&flags, header + COLO_FRAME_FLAGS, sizeof flags);
        end = batch->offset + ((COLO_FRAME_PAYLOAD + (uint64_t)length + COLO_LINE_BYTES - 1) & ~(uint64_t)(COLO_LINE_BYTES - 1));
        if (end > batch->length) {
            batch->offset = batch->length;
            return COLO_E_DAMAGED;
        }
        if (flags & COLO_FRAME_VOID) {
            batch->offset = end;
            continue;
        }
        frame->length = length;
        frame->position = batch->position + batch->offset;
        memcpy(&frame->time, header + COLO_FRAME_TIME, sizeof frame->time);
        frame->payload = header + COLO_FRAME_PAYLOAD;
        memcpy(&frame->topic, header + COLO_FRAME_TOPIC, sizeof frame->topic);
        memcpy(&frame->epoch, header + COLO_FRAME_EPOCH, sizeof frame->epoch);
        memcpy(&frame->message_id, header + COLO_FRAME_ID, sizeof frame->message_id);
        frame->flags = flags;
        batch->offset = end;
        return 1;
    }
    return 0;
}

/* Bytes of each record of a frame that holds records, or 0: then its payload is one message. */
static inline uint32_t colo_record_size(const colo_frame *frame) {
    return frame->flags & COLO_FRAME_RECORD;
}

/* Position of record `index`, which identifies it as a frame's position identifies a message. */
static inline uint64_t colo_record_position(const colo_frame *frame, uint32_t index) {
    return frame->position + COLO_FRAME_PAYLOAD + (uint64_t)index * colo_record_size(frame);
}

#ifdef __cplusplus
}
#endif

#endif
