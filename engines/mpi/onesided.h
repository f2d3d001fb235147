/* Modes put and get: rank 0 writes into rank 1's memory, or reads from it; rank 1 does nothing for
 * it but let its library work. */
#ifndef RAIL_MPI_ONESIDED_H
#define RAIL_MPI_ONESIDED_H

#include "mpi_engine.h"

#define ONE_SIDED "put|get"

extern const struct mode mpi_onesided;

#endif
