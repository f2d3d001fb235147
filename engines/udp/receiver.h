/* The receiving end of streams: as many threads as sockets. */
#ifndef RAIL_UDP_RECEIVER_H
#define RAIL_UDP_RECEIVER_H

#include "reception.h"
#include "udp.h"

#include "../lib/intervals.h"
#include "../lib/team.h"
#include "../lib/trace.h"

#include <stdatomic.h>

struct receiver; /* one stream's */

/* All streams that one end receives in a replication. */
struct receiver_group {
    const struct launch *launch;
    const struct trial *trial;
    const int *fds;
    int control;
    struct session *session; /* of a server, whose first thread awaits the END; or NULL */
    struct trace *trace;     /* arrivals go there; NULL: nowhere */
    uint64_t trace_room;
    atomic_uint_fast64_t origin; /* ns, when the first of all streams arrived; 0: not yet */
    atomic_bool first_arrived; /* the first datagram has arrived */
    atomic_bool sent_known; /* `sent` is known */
    uint64_t sent[MAX_THREADS];
    uint64_t round_trip, prepared_at; /* ns */
    size_t count;
    struct receiver *receivers[MAX_THREADS];
};

/* Allocates and prepares, empties the sockets; fill in what stands above `first_arrived` before.
 * first: as for their tasks. */
void receiver_group_prepare(struct receiver_group *group, bool server, int first);

/* Their tasks, for a team; first: the first one's number in it. */
void receiver_group_tasks(struct receiver_group *group, struct task *tasks, int first);

/* The other end has sent so many: receivers end when they have them, or hear nothing more. */
void receiver_group_set_sent(struct receiver_group *group, const struct fields *fields,
                             const char *name);

/* Since when nothing has arrived, in ns. */
uint64_t receiver_group_quiet(const struct receiver_group *group);

/* Their intervals together; of no receivers those of a peer, yet to be received. */
struct intervals *receiver_group_intervals(const struct receiver_group *group);

/* After the team has ended; the omitted part's CPU time is taken out of usage. Fails if nothing
 * arrived or something was never sent. */
struct reception receiver_group_done(const struct receiver_group *group, struct usage *usage);

#endif
