/* The ways in which MPI may be asked to send a message: when the call is done, and what has to have
 * happened before. */
#ifndef RAIL_MPI_SEND_KIND_H
#define RAIL_MPI_SEND_KIND_H

#include "mpi_engine.h"

#define SEND_KINDS "standard|synchronous|buffered|ready"

struct send_kind {
    const char *name;
    int (*send)(const void *, int, MPI_Datatype, int to, int tag, MPI_Comm);
    /* Returns at once; and the same made ready, to be started again and again. */
    int (*isend)(const void *, int, MPI_Datatype, int to, int tag, MPI_Comm, MPI_Request *);
    int (*init)(const void *, int, MPI_Datatype, int to, int tag, MPI_Comm, MPI_Request *);
    bool buffered; /* the call copies the message to memory that we attached */
    bool ready;    /* the receive has to be posted before */
};

/* The launch's. */
const struct send_kind *send_kind_of(const struct launch *launch);

/* Attaches memory for so many messages of that size on their way; fails with OUT_OF_MEMORY, or with
 * BAD_PARAMETER if MPI takes no such size. */
void send_memory_attach(size_t messages, size_t size);

/* Waits until all buffered messages have gone, after which there is room for all of them again. */
void send_memory_clear(void);

void send_memory_detach(void);

#endif
