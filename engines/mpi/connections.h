/* This process's TCP connections, to be compared with another rank's: what is between two ranks
 * has both its ends among their sockets, whatever the library says. */
#ifndef RAIL_MPI_CONNECTIONS_H
#define RAIL_MPI_CONNECTIONS_H

#include "../lib/sockets.h"

#define CONNECTIONS 64 /* of a rank that are looked at, a bit for each */

struct connections {
    uint32_t count;
    struct connection {
        struct address own, other;
    } list[CONNECTIONS];
};

/* Those of this process that are established. */
void connections_read(struct connections *connections);

/* Bit i: the other end of the first's i-th connection is among the second's. */
uint64_t connections_between(const struct connections *first, const struct connections *second);

#endif
