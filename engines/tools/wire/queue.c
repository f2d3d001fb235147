#include "queue.h"

#include "../../lib/failure.h"
#include "../../lib/memory.h"

#include <stdlib.h>

/* Bytes of the ring that a frame of that length takes. */
static size_t room_for(size_t length)
{
    return sizeof(struct queued) + (length + 7) / 8 * 8;
}

void queue_make(struct queue *queue, size_t bytes)
{
    size_t capacity = (bytes + 7) / 8 * 8 + 2 * room_for(FRAME_LIMIT);
    must_fit(1, capacity);
    *queue = (struct queue){.capacity = capacity, .memory = malloc(capacity)};
    if (queue->memory == NULL)
        fail(OUT_OF_MEMORY, "no memory for %zu bytes under way: a smaller --queue needs less",
             capacity);
}

void queue_free(struct queue *queue)
{
    free(queue->memory);
}

unsigned char *queue_room(struct queue *queue)
{
    const size_t required = room_for(FRAME_LIMIT);
    if (queue->count == 0) { /* begins anew, where the caches are warm */
        queue->head = queue->tail = 0;
        queue->wrapped = false;
    }
    if (queue->wrapped ? queue->tail - queue->head > required
                       : queue->capacity - queue->head >= required)
        queue->place = queue->head;
    else if (!queue->wrapped && queue->tail > required)
        queue->place = 0;
    else
        return NULL;
    return ((struct queued *)(void *)(queue->memory + queue->place))->bytes;
}

void queue_push(struct queue *queue, size_t length, uint64_t due)
{
    struct queued *queued = (struct queued *)(void *)(queue->memory + queue->place);
    queued->length = length;
    queued->due = due;
    if (queue->place < queue->head && !queue->wrapped) {
        queue->end = queue->head;
        queue->wrapped = true;
    }
    queue->head = queue->place + room_for(length);
    queue->count++;
}

struct queued *queue_front(struct queue *queue)
{
    if (queue->count == 0)
        return NULL;
    if (queue->wrapped && queue->tail == queue->end) {
        queue->tail = 0;
        queue->wrapped = false;
    }
    return (struct queued *)(void *)(queue->memory + queue->tail);
}

void queue_pop(struct queue *queue)
{
    queue->tail += room_for(queue_front(queue)->length);
    queue->count--;
}
