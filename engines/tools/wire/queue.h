/* Frames under way, in order, in one ring of bytes; none is copied. For one thread. */
#ifndef RAIL_WIRE_QUEUE_H
#define RAIL_WIRE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_LIMIT 65600 /* no device hands over longer ones */

struct queued {
    uint64_t due; /* ns, by now_ns() */
    size_t length;
    unsigned char bytes[];
};

struct queue {
    unsigned char *memory;
    size_t capacity, head, tail, place;
    size_t end; /* where the older part ends; only while wrapped */
    bool wrapped;
    uint64_t count;
};

/* So many bytes for frames and what is kept with them, 16 to 23 each, and room for two more;
 * fails with OUT_OF_MEMORY. */
void queue_make(struct queue *queue, size_t bytes);
void queue_free(struct queue *queue);

/* Where the next frame, of at most FRAME_LIMIT bytes, can be read into; NULL: there is no room. */
unsigned char *queue_room(struct queue *queue);

/* Takes up the frame that was read into that room. */
void queue_push(struct queue *queue, size_t length, uint64_t due);

/* The oldest frame, NULL if there is none; stays valid until it is popped. */
struct queued *queue_front(struct queue *queue);
void queue_pop(struct queue *queue);

#endif
