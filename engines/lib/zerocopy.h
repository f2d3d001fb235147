/* Sending without a copy (MSG_ZEROCOPY). The kernel numbers a socket's calls and says of each when
 * it is done with its memory (Linux, Documentation/networking/msg_zerocopy.rst). */
#ifndef RAIL_ZEROCOPY_H
#define RAIL_ZEROCOPY_H

#include "result.h"

#include <stdbool.h>
#include <stdint.h>

#define ZEROCOPY_SLOTS 64 /* calls under way that can be told apart */

struct zerocopy {
    int fd;
    uint64_t cookie;    /* of the socket */
    uint32_t next;      /* number of the next call */
    uint64_t under_way; /* bit by bit, calls by their number modulo ZEROCOPY_SLOTS */
    /* Calls of a replication: all; those that the kernel is done with; of these, copied after all. */
    uint64_t handed, completed, copied;
};

/* For a replication on a socket, a new one or the last one's. */
void zerocopy_begin(struct zerocopy *zerocopy, int fd);

/* The kernel took a call. */
void zerocopy_add(struct zerocopy *zerocopy);

/* Takes the kernel's news of calls that are done. After a refused call, too, before the next one:
 * some of them have a number. */
void zerocopy_reap(struct zerocopy *zerocopy);

/* Waits until the next call's slot is free: false if it is not within ten seconds. */
bool zerocopy_wait(struct zerocopy *zerocopy);

/* Waits until all calls are done: false if they are not within ten seconds. */
bool zerocopy_finish(struct zerocopy *zerocopy);

/* Sets zerocopy_copied, the share of completed calls; warns once of any. Nothing where there are
 * none. */
void set_zerocopy_copied(struct result *result, uint64_t completed, uint64_t copied);

#endif
