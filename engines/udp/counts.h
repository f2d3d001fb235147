/* How many datagrams of a stream came, in all and by the end of each interval. */
#ifndef RAIL_UDP_COUNTS_H
#define RAIL_UDP_COUNTS_H

#include "../lib/intervals.h"
#include "../lib/sequence.h"

#include <stdatomic.h>

struct counts {
    struct sequence sequence;
    struct sequence omitted; /* datagrams before those that count */
    struct intervals intervals;
};

void counts_prepare(struct counts *counts, const struct launch *launch, const struct trial *trial);

/* Intervals that are over by now end. */
void counts_close(struct counts *counts, uint64_t now);

/* The stream's first datagram has come; origin: that of the first of all streams, 0: not yet. */
void counts_begin(struct counts *counts, atomic_uint_fast64_t *origin, uint64_t now);

/* So many were sent, the last one that came did so then; 0: none came. */
void counts_finish(struct counts *counts, atomic_uint_fast64_t *origin, uint64_t last_at,
                   uint64_t sent);

/* Prepares the intervals of all streams together. */
void counts_prepare_sum(struct intervals *sum, const struct launch *launch,
                        const struct trial *trial);

#endif
