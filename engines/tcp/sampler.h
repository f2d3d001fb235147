/* A thread that samples the senders' connections while they are blocked in a call. */
#ifndef RAIL_TCP_SAMPLER_H
#define RAIL_TCP_SAMPLER_H

#include "flow.h"

#include <pthread.h>

struct sampler {
    const struct launch *launch;
    struct sender *senders;
    size_t count;
    int stop; /* an eventfd */
    pthread_t thread;
};

/* Begins; the senders' connections are set. Their samples may be read once it has ended. */
void sampler_start(struct sampler *sampler, const struct launch *launch, struct sender *senders,
                   size_t count);
void sampler_stop(struct sampler *sampler);

#endif
