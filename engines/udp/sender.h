/* The sending end of streams: as many threads as sockets. */
#ifndef RAIL_UDP_SENDER_H
#define RAIL_UDP_SENDER_H

#include "udp.h"

#include "../lib/histogram.h"
#include "../lib/intervals.h"
#include "../lib/omit.h"
#include "../lib/team.h"

#include <stdatomic.h>

struct sender; /* one stream's */

/* All streams of one end in one replication. */
struct sender_group {
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
    double spun;    /* s of CPU time, until a send was due */
};

/* Allocates and prepares; fill in what stands above `count` before. first: as for their tasks. */
void sender_group_prepare(struct sender_group *group, bool server, int first);

/* Their tasks, for a team; first: the first one's number in it. */
void sender_group_tasks(struct sender_group *group, struct task *tasks, int first);

/* A client's whole replication of sending: runs the group, sets the client's usage and what
 * sender_group_result sets. group->to is the caller's. */
void sender_group_run(struct sender_group *group, struct client *client, const struct trial *trial,
                      struct result *result);

/* What they did before what counts; its CPU time is taken out of usage. */
struct omitted sender_group_omitted(const struct sender_group *group, struct usage *usage);

/* Their intervals together. */
struct intervals *sender_group_intervals(const struct sender_group *group);

struct sent sender_group_done(const struct sender_group *group);

/* How many datagrams each stream sent, as a field. */
void add_sent(const struct sender_group *group, struct fields *fields, const char *name);

/* Sets send_gap_p50 and send_gap_p99 of a paced stream. */
void sender_group_gaps(const struct sender_group *group, struct result *result);

/* Warns of an end that sent so many datagrams at less than the rate asked for. */
void note_rate(const struct sender_group *group, const char *side, double packets,
               double throughput);

/* Sets local_throughput, sent_packets, sent_bytes and sender_retries, and the gaps. */
void sender_group_result(const struct sender_group *group, struct result *result);

/* Fails with BAD_PARAMETER if parameters of sending contradict each other. */
void check_sending(const struct launch *launch);

#endif
