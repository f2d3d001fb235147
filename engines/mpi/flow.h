/* What streams one way and both ways share: messages in flight, and when they arrived. */
#ifndef RAIL_MPI_FLOW_H
#define RAIL_MPI_FLOW_H

#include "pair.h"

/* Messages in flight: each takes the place of the oldest, whose end is waited for. */
struct ring {
    const struct buffers *buffers;
    size_t window; /* 0: one message at a time, with the blocking calls */
    MPI_Request *sends, *receives;
    uint64_t sent, posted; /* in this replication */
};

/* 0 if the launch asks for blocking calls. */
size_t window_of(const struct launch *launch);

void ring_open(struct ring *ring, const struct buffers *buffers, size_t window);
void ring_close(struct ring *ring);

/* Nothing is in flight at the beginning of a replication. */
static inline void ring_begin(struct ring *ring)
{
    ring->sent = ring->posted = 0;
}

static inline void ring_send(struct ring *ring, int to, int tag)
{
    MPI_Request *place = &ring->sends[ring->sent % ring->window];
    if (ring->sent >= ring->window)
        MPI_Wait(place, MPI_STATUS_IGNORE);
    MPI_Isend(ring->buffers->out, tag == FILLER_TAG ? 0 : (int)ring->buffers->size, MPI_BYTE, to,
              tag,
              MPI_COMM_WORLD, place);
    ring->sent++;
}

static inline void ring_post(struct ring *ring, int from)
{
    MPI_Irecv(receive_buffer(ring->buffers, ring->posted), (int)ring->buffers->size, MPI_BYTE, from,
              MPI_ANY_TAG, MPI_COMM_WORLD, &ring->receives[ring->posted % ring->window]);
    ring->posted++;
}

/* Waits for the message of that number, the oldest one posted. */
static inline void ring_wait(struct ring *ring, uint64_t message, MPI_Status *status)
{
    MPI_Wait(&ring->receives[message % ring->window], status);
}

/* Meets the receives that the other side has posted ahead when it learns of the end. */
void ring_fill_up(struct ring *ring, int to);

/* Waits for all that is still under way. messages: those received that were waited for. */
void ring_finish(struct ring *ring, uint64_t messages);

/* A receiver's messages. The clock starts when an empty message before them arrives: of many large
 * ones in flight, all arrive in part before the first one is complete. */
struct arrivals {
    uint64_t messages, began, last_at;
    MPI_Status last;
};

/* One more is there. */
static inline void arrived(struct arrivals *arrivals, bool last)
{
    arrivals->messages++;
    if (last)
        arrivals->last_at = now_ns();
}

static inline bool is_end(const struct arrivals *arrivals)
{
    return arrivals->last.MPI_TAG == END_TAG;
}

struct finding finding_of(const struct arrivals *arrivals);

/* What rank 0 sent; elapsed: its time for it. */
void result_set_sent(struct result *result, const struct buffers *buffers, double messages,
                     double elapsed);

#endif
