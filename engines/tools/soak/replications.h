/* The replications that engines marked: how the soakers stood at the begin and end of each. */
#ifndef RAIL_SOAK_REPLICATIONS_H
#define RAIL_SOAK_REPLICATIONS_H

#include "soakers.h"

#define OPEN_LIMIT 64 /* of those begun; one more, and the oldest is forgotten */

struct replication {
    uint64_t launch, number;
    struct reading *begin, *end; /* one each a CPU; end follows begin in one piece of memory */
};

struct replications {
    struct replication open[OPEN_LIMIT];
    size_t open_count;
    struct replication *closed; /* in the order of their ends */
    size_t closed_count, closed_room;
};

/* Begins one. Where both ends of a test are on this machine, both say so: of two begins the later
 * one counts and of two ends the earlier, so that the test's traffic lies within, and little
 * else. */
void replication_begins(struct replications *all, const struct soakers *soakers, uint64_t launch,
                        uint64_t number);
void replication_ends(struct replications *all, const struct soakers *soakers, uint64_t launch,
                      uint64_t number);

/* Forgets those that have ended. */
void replications_clear(struct replications *all);

#endif
