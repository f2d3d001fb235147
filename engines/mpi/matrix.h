/* Mode matrix: every rank with every other one, both ways, in rounds of pairs that measure at the
 * same time. */
#ifndef RAIL_MPI_MATRIX_H
#define RAIL_MPI_MATRIX_H

#include "mpi_engine.h"

extern const struct mode mpi_matrix;

#endif
