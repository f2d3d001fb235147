/* Marks of a job: on each host the first of its ranks notifies the watchers there. */
#ifndef RAIL_MPI_MARKING_H
#define RAIL_MPI_MARKING_H

#include "mpi_engine.h"

/* Called by all ranks: none leaves before every host's watchers are notified, and none is notified
 * before every rank is here. Does nothing in a job without --watch. Rank 0 warns of problems. */
void mark_hosts(const struct job *job, const char *label, long replication);

#endif
