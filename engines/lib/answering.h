/* A server's threads that answer whatever comes, while the session's own thread waits for the
 * client's END: what they do has no clock and no control channel in it. */
#ifndef RAIL_ANSWERING_H
#define RAIL_ANSWERING_H

#include "network.h"

#include <stdatomic.h>

/* One thread's work. */
struct answerer {
    struct session *session;
    const struct trial *trial;
    size_t number; /* 0, 1 ... */
    int fd;
    _Atomic uint64_t answered;
    atomic_bool *over; /* set: nothing more will come */
};

/* Starts `count` threads that do the work, on these test sockets (one for all, or one each). */
void answering_start(struct session *session, const struct trial *trial,
                     void (*work)(void *answerer), const int fds[], size_t sockets,
                     size_t count);

/* Waits for the client's END, at most until the replication's limit or half a minute without an
 * answer; then for the threads. Adds their usage to reply and returns how many they answered. */
uint64_t answering_finish(struct session *session, const struct trial *trial,
                          struct fields *reply);

/* One more; only its own thread counts, so that this needs no lock. */
static inline void answering_count(struct answerer *answerer)
{
    uint64_t answered = atomic_load_explicit(&answerer->answered, memory_order_relaxed);
    atomic_store_explicit(&answerer->answered, answered + 1, memory_order_relaxed);
}

static inline bool answering_over(const struct answerer *answerer)
{
    return atomic_load_explicit(answerer->over, memory_order_relaxed);
}

#endif
