/* What a rank computes while a collective operation is under way: one chain of multiplications and
 * additions in registers, which needs a CPU and nothing else. */
#ifndef RAIL_MPI_COLLECTIVE_COMPUTATION_H
#define RAIL_MPI_COLLECTIVE_COMPUTATION_H

#include <mpi.h>
#include <stdint.h>

void compute(uint64_t steps);

/* Likewise, with so many MPI_Test in between, evenly, until the request is done. */
void compute_testing(uint64_t steps, uint64_t tests, MPI_Request *request);

/* How many steps this rank's CPU does in so many ns, when nothing disturbs it. */
uint64_t steps_in(double nanoseconds);

#endif
