/* A thread beside the senders' that looks at their connections while they cannot. */
#ifndef RAIL_TCP_WATCH_H
#define RAIL_TCP_WATCH_H

#include "flow.h"

#include <pthread.h>

struct watch {
    const struct launch *launch;
    struct sending *senders;
    size_t count;
    int stop; /* an eventfd */
    pthread_t thread;
};

/* Begins; the senders' connections are set. Their samples may be read once it has ended. */
void watch_begin(struct watch *watch, const struct launch *launch, struct sending *senders,
                 size_t count);
void watch_end(struct watch *watch);

#endif
