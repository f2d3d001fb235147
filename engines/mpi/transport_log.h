/* What Open MPI said while it connected the ranks. */
#ifndef RAIL_MPI_TRANSPORT_LOG_H
#define RAIL_MPI_TRANSPORT_LOG_H

#include <stdio.h>

#define LOG_NAME 128

/* Names with commas between them; empty: nothing was said. */
struct transport_log {
    char pml[LOG_NAME];
    char btls[LOG_NAME]; /* between this rank and others */
};

/* Reads it all. rank: ours, whose messages to itself do not count. */
void transport_log_read(struct transport_log *log, FILE *text, int rank);

/* Adds a name to a list of that many bytes, unless it is there or there is no room. */
void add_to_list(char *list, size_t size, const char *name);

#endif
