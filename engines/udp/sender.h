/* The sending end of streams: as many threads as sockets. */
#ifndef RAIL_UDP_SENDER_H
#define RAIL_UDP_SENDER_H

#include "udp.h"

#include "../lib/histogram.h"
#include "../lib/team.h"

#include <stdatomic.h>

struct sender; /* one stream's */

/* All streams of one end in one replication. */
struct sending {
    const struct launch *launch;
    const struct trial *trial;
    const int *fds;
    int control;              /* -1: there is no peer */
    const struct address *to; /* of unconnected sockets; NULL: they are connected */
    /* Set: begin. NULL: at once. And a reason not to begin at all. */
    const atomic_bool *first_arrived, *sent_known;
    size_t count;
    struct sender *senders[MAX_THREADS];
};

/* What they did. */
struct sent {
    uint64_t packets, retries;
    double elapsed; /* from the first one's beginning to the last one's end */
};

/* Allocates and prepares; fill in what stands above `count` before. */
void sending_prepare(struct sending *sending);

/* Their tasks, for a team; first: the first one's number in it. */
void sending_tasks(struct sending *sending, struct task *tasks, int first);

struct sent sending_done(const struct sending *sending);

/* How many datagrams each stream sent, as a field. */
void add_sent(const struct sending *sending, struct fields *fields, const char *name);

/* Sets send_gap_p50 and send_gap_p99 of a paced stream. */
void sending_gaps(const struct sending *sending, struct result *result);

/* By hand: warns of an end that sent so many datagrams at less than the rate asked for. Of a plan's
 * replications the runner judges that. */
void warn_under_rate(const struct sending *sending, const char *side, double packets,
                     double throughput);

/* Sets local_throughput, sent_packets, sent_bytes and sender_retries, and the gaps. */
void sending_result(const struct sending *sending, struct result *result);

/* Fails with BAD_PARAMETER if parameters of sending contradict each other. */
void check_sending(const struct launch *launch);

#endif
