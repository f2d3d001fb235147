/* The collective modes: how long an operation among all ranks takes, until the slowest of them has
 * done it. */
#ifndef RAIL_MPI_COLLECTIVE_H
#define RAIL_MPI_COLLECTIVE_H

#include "mpi_engine.h"

#define MOVING_COLLECTIVES                                                                        \
    "bcast|reduce|allreduce|reduce_scatter|scatter|gather|allgather|alltoall"
#define COLLECTIVES "barrier|" MOVING_COLLECTIVES

extern const struct mode mpi_collective;

#endif
