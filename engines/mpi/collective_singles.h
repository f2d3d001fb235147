/* What all ranks begin at one moment, again and again: each time until the slowest has done it. */
#ifndef RAIL_MPI_COLLECTIVE_SINGLES_H
#define RAIL_MPI_COLLECTIVE_SINGLES_H

#include "collective_work.h"
#include "mpi_engine.h"

#include "../lib/histogram.h"

/* What is timed: an operation alone, a computation alone, or both at once. */
enum deed { OPERATION, COMPUTATION, OVERLAPPED, DEEDS };

/* How the launch's operations are done. */
struct manner {
    struct work work;
    bool blocking;  /* or by the call that returns at once, and MPI_Wait */
    uint64_t tests; /* MPI_Test during a computation */
};

/* One operation, with so many steps of a computation meanwhile. */
void perform(const struct manner *manner, enum deed deed, uint64_t steps);

/* Rank 0 says how many operations come next, no more than it wants; 0: enough. */
uint64_t agree(const struct phase *phase, uint64_t operations);

/* How many come next, after so many that took so long in ns: about as many as make a block. */
uint64_t block_after(uint64_t block, uint64_t took);

uint64_t between(uint64_t least, uint64_t number, uint64_t most);

/* On rank 0: the times of the slowest rank for each deed, in ns; if the manner is blocking, of
 * operations alone. */
struct singles {
    struct histogram times[DEEDS];
    uint64_t start_error; /* ns by which the ranks' beginnings may have been apart */
};

/* Called by all ranks. Before the timed part begins, how long the
 * computation has to be to take about as long as the operation; 0 if the manner is blocking. */
uint64_t fit_computation(const struct job *job, const struct manner *manner,
                         struct singles *singles);

/* Called by all ranks: each deed until the attempt's half time is over, or its count is done. */
void time_singly(const struct job *job, const struct manner *manner, const struct attempt *attempt,
                 uint64_t steps, struct singles *singles);

#endif
