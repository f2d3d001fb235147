/* Which of the library's transports are asked for, and which it really uses. */
#ifndef RAIL_MPI_TRANSPORT_H
#define RAIL_MPI_TRANSPORT_H

#include "mpi_engine.h"

/* Before MPI_Init: puts what the launch asks for into Open MPI's environment. */
void transport_ask(const struct launch *launch);

/* Before MPI_Init: has the library say what it does, to us alone, and gets last words ready. */
void transport_listen(void);

/* All ranks, after MPI_Init: exchanges messages, so that there are connections, and adds to the
 * settings what is used; fails if it is not what was asked for. */
void transport_add_settings(const struct job *job, struct fields *settings);

#endif
