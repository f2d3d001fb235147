/* Rank 0's clock, as every rank knows it, so that they can begin something at the same moment. */
#ifndef RAIL_MPI_COLLECTIVE_CLOCK_H
#define RAIL_MPI_COLLECTIVE_CLOCK_H

#include "mpi_engine.h"

struct common_clock {
    uint64_t ahead; /* ns that rank 0's is ahead of ours; modulo 2^64, so it may be behind */
    uint64_t error; /* ns by which that may be wrong, at most */
    uint64_t set_at, took; /* when all were compared, and ns that it took */
};

/* All ranks: each in turn compares its clock with rank 0's. */
void set_common_clock(struct common_clock *clock, const struct job *job);

#endif
