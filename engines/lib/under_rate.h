/* What a sender made of the rate that it was asked for. */
#ifndef RAIL_UNDER_RATE_H
#define RAIL_UNDER_RATE_H

#include "engine.h"

/* One end's sending in a replication. */
struct achieved {
    long replication;
    const char *side;  /* "client" or "server" */
    double throughput; /* payload bit/s over the sender's own time */
    double due;        /* what a call that was due just as time was up would have made of it */
    const char *advice; /* how to get more */
};

/* By hand: warns of an end that sent at less than the rate asked for. Of a plan's replications the
 * runner judges that. */
void warn_under_rate(const struct launch *launch, const struct achieved *achieved);

#endif
