/* The job around the modes: MPI's beginning and end. */
#ifndef RAIL_MPI_JOB_H
#define RAIL_MPI_JOB_H

#include "mpi_engine.h"

/* MPI_Init and all that has to be done before it. */
void job_begin(struct job *job, const struct launch *launch);
void job_end(struct job *job);

#endif
