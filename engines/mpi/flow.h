/* What streams one way and both ways share: messages in flight, and when they arrived. */
#ifndef RAIL_MPI_FLOW_H
#define RAIL_MPI_FLOW_H

#include "pair.h"
#include "send_kind.h"

/* Messages in flight between this rank and another one: each takes the place of the oldest, whose
 * end is waited for. */
struct ring {
    const struct buffers *buffers;
    const struct send_kind *kind;
    int peer;
    int receive_tag;
    size_t window; /* sends in flight; 0: one at a time, with the blocking call */
    size_t ahead;  /* receives posted; 0: none, as they block */
    MPI_Request *sends, *receives;           /* under way */
    MPI_Request *made_sends, *made_receives; /* persistent ones, to be started; NULL: none */
    uint64_t sent, posted; /* in this replication */
    uint64_t limit;  /* messages that may be sent until there is room for others */
    uint64_t first_limit;
    uint64_t grant;  /* ready, one way: the receiver announces so many receives at a time; 0: not */
    uint64_t grants; /* announced so far */
};

/* How a ring differs from that of a stream one way. */
struct ring_plan {
    int peer;
    int receive_tag;
    size_t window, ahead;
    bool announced; /* receives are announced by messages of their own, if the sends need them */
};

/* 0 if the launch asks for blocking calls. */
size_t window_of(const struct launch *launch);

bool is_persistent(const struct launch *launch);

/* buffers: to be opened. */
void ring_open(struct ring *ring, struct buffers *buffers, const struct launch *launch,
               const struct ring_plan *plan);
void ring_close(struct ring *ring, struct buffers *buffers);

/* Nothing is in flight at the beginning of a replication. */
static inline void ring_begin(struct ring *ring)
{
    ring->sent = ring->posted = ring->grants = 0;
    ring->limit = ring->first_limit;
}

/* Waits until more messages may be sent: until buffered ones have gone, or the receiver says that
 * it has posted receives for ready ones. */
void ring_make_room(struct ring *ring);

static inline void ring_send(struct ring *ring, int tag)
{
    MPI_Request *place = &ring->sends[ring->sent % ring->window];
    if (ring->sent >= ring->window)
        MPI_Wait(place, MPI_STATUS_IGNORE);
    if (ring->sent == ring->limit)
        ring_make_room(ring);
    if (ring->made_sends && tag == DATA_TAG) {
        MPI_Request *made = &ring->made_sends[ring->sent % ring->window];
        MPI_Start(made);
        *place = *made;
    } else {
        ring->kind->isend(ring->buffers->out, (int)ring->buffers->size, MPI_BYTE, ring->peer, tag,
                          MPI_COMM_WORLD, place);
    }
    ring->sent++;
}

/* With the blocking call. */
static inline void ring_send_singly(struct ring *ring, int tag)
{
    if (ring->sent == ring->limit)
        ring_make_room(ring);
    ring->kind->send(ring->buffers->out, (int)ring->buffers->size, MPI_BYTE, ring->peer, tag,
                     MPI_COMM_WORLD);
    ring->sent++;
}

/* Announces the receives that are posted. */
void ring_announce(struct ring *ring);

static inline void ring_post(struct ring *ring)
{
    MPI_Request *place = &ring->receives[ring->posted % ring->ahead];
    if (ring->made_receives) {
        MPI_Request *made = &ring->made_receives[ring->posted % ring->ahead];
        MPI_Start(made);
        *place = *made;
    } else {
        MPI_Irecv(receive_buffer(ring->buffers, ring->posted), (int)ring->buffers->size, MPI_BYTE,
                  ring->peer, ring->receive_tag, MPI_COMM_WORLD, place);
    }
    ring->posted++;
    if (ring->grant)
        ring_announce(ring);
}

/* Waits for the message of that number, the oldest one posted. */
static inline void ring_wait(struct ring *ring, uint64_t message, MPI_Status *status)
{
    MPI_Wait(&ring->receives[message % ring->ahead], status);
}

/* Meets the receives that the other side has posted ahead when it learns of the end. */
void ring_fill_up(struct ring *ring);

/* Takes back the receives posted for messages from that number on, which nobody sends. */
void ring_cancel(struct ring *ring, uint64_t messages);

/* Waits for all that is still under way. messages: those received that were waited for. */
void ring_finish(struct ring *ring, uint64_t messages);

/* A receiver's messages. Its time begins with an empty message before them: of many large ones in
 * flight, all arrive in part before the first one is complete. */
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

/* A sender waits until the receiver is ready. */
void await_receiver(int peer);

/* A receiver that is ready has the sender begin, and waits until it does, as `start` is received.
 * Its time begins with the last look before that: it may have had no CPU since, while messages
 * came. None come before the first look. */
void await_sender(int peer, MPI_Request *start, struct arrivals *arrivals);

struct finding finding_of(const struct arrivals *arrivals);

/* A whole stream one way, as its sender, once the receiver is ready, and as its receiver. Returns
 * how many messages it sent. */
uint64_t stream_send(struct ring *ring, const struct attempt *attempt);
void stream_receive(struct ring *ring, struct arrivals *arrivals);

/* The receives that a stream one way posts ahead. */
size_t stream_ahead(const struct launch *launch, size_t window);

/* What rank 0 sent; elapsed: its time for it. */
void result_set_sent(struct result *result, const struct buffers *buffers, double messages,
                     double elapsed);

#endif
