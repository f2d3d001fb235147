/* Where the ranks run: on the hosts that were meant, and each on a CPU of its own. */
#ifndef RAIL_MPI_BINDING_H
#define RAIL_MPI_BINDING_H

#include "mpi_engine.h"

/* Before MPI_Init, which may fail because of it: rank 0 fails at once if it isn't where
 * --rank-addresses says, another rank says so on standard error. */
void warn_if_misplaced(const struct launch *launch);

/* All ranks: fails unless each is on the machine that --rank-addresses says. */
void must_be_at_addresses(const struct job *job);

/* The address of --rank-addresses that a rank has; false if there is none. */
bool address_of_rank(const struct launch *launch, int rank, int ranks, char *out, size_t size);

/* How many addresses --rank-addresses has; 1 if it isn't given: all ranks are taken to be there. */
int hosts_of(const struct launch *launch);

/* The interface of this machine that has the address; false if none has. */
bool interface_of(const char *address, char *out, size_t size);

/* All ranks: binds each to a CPU and adds to its settings which it may use. */
void take_cpus(const struct job *job, struct fields *settings);

#endif
