/* What all ranks begin at one moment, again and again: each time until the slowest has done it. */
#ifndef RAIL_MPI_COLLECTIVE_SINGLES_H
#define RAIL_MPI_COLLECTIVE_SINGLES_H

#include "collective_clock.h"
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

/* On rank 0: the times of the slowest rank for each deed, in ns; if the manner is blocking, of
 * operations alone. */
struct singles {
    struct histogram times[DEEDS];
    struct common_clock clock; /* by which all begin */
};

/* Called by all ranks. Before the timed part begins, how long the
 * computation has to be to take about as long as the operation; 0 if the manner is blocking. */
uint64_t fit_computation(const struct job *job, const struct manner *manner,
                         struct singles *singles);

/* Called by all ranks: each deed until the attempt's half time is over, or its count is done. */
void time_singly(const struct job *job, const struct manner *manner, const struct attempt *attempt,
                 uint64_t steps, struct singles *singles);

/* Called by all ranks, after that: batches of operations that follow one another without a pause,
 * for the attempt's other half. Returns seconds an operation, on rank 0. */
double time_together(const struct job *job, const struct manner *manner,
                     const struct attempt *attempt, struct singles *singles);

/* Called by all ranks, in the end: seconds by which a beginning may have been wrong, on rank 0. */
double start_error(const struct job *job, struct singles *singles);

#endif
