/* Rank 0's clock, as every rank estimates it, so that they can begin at one moment. */
#ifndef RAIL_MPI_COLLECTIVE_CLOCK_H
#define RAIL_MPI_COLLECTIVE_CLOCK_H

#include "mpi_engine.h"

/* One comparison. */
struct reading {
    uint64_t at;    /* when, by our clock */
    uint64_t ahead; /* ns that rank 0's was ahead of ours; modulo 2^64, so it may be behind */
    uint64_t error; /* ns by which that may be wrong, at most */
};

/* All zero before the first comparison. */
struct common_clock {
    struct reading first, last;
    double gain;   /* ns by which rank 0's clock gets further ahead of ours in each ns */
    uint64_t error; /* ns by which the clock was wrong at most, up to the last comparison */
    uint64_t set_at, took; /* when all were compared, and ns that it took */
};

/* All ranks: each in turn compares its clock with rank 0's, and sees how far they came apart. */
void set_common_clock(struct common_clock *clock, const struct job *job);

/* What our clock shows at that moment of rank 0's. */
uint64_t by_own_clock(const struct common_clock *clock, uint64_t moment);

#endif
