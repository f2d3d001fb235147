/* One direction of one data connection: what sends into it, what receives from it. Each is the
 * work of one thread. */
#ifndef RAIL_TCP_FLOW_H
#define RAIL_TCP_FLOW_H

#include "info.h"
#include "writer.h"

#include "../lib/intervals.h"
#include "../lib/network.h"
#include "../lib/omit.h"

#include <stdatomic.h>

#define SAMPLE_INTERVAL (NANOSECONDS / 50) /* of samples of a connection that sends */

/* A sender's task and, afterwards, what it did. */
struct sender {
    const struct launch *launch;
    struct writer writer;
    int control;
    const struct source *source;
    size_t message, chunk; /* of memory; of what one call is given */
    bool cork, by_count;
    double byte_ns;    /* time of a byte at the rate asked for; 0: as fast as it can */
    double late_ns;    /* after the other connections' */
    size_t connections; /* that take turns */
    uint64_t share;    /* messages to send, by count */
    uint64_t duration; /* ns, else */
    uint64_t omit;     /* ns, before */
    uint64_t count_from, stop; /* moments */
    uint64_t bytes, messages; /* all */
    uint64_t newest;          /* bytes of the call that has just ended */
    uint64_t omitted, omitted_messages; /* of those, before what counts */
    struct usage omitted_usage;
    struct tcp_state before; /* of the connection, when that began */
    atomic_bool counts;      /* it has begun */
    uint64_t began, ended; /* ns */
    struct tcp_state state;   /* of the connection, when its last byte was handed over */
    struct samples samples; /* at it, until then, between calls */
    struct samples sampler_samples; /* likewise, by struct sampler's thread, in long calls */
    atomic_uint_fast64_t sampled_at; /* ns, when the sender itself last did */
    struct intervals intervals; /* of it */
};

/* A part of what a receiver saw. */
enum { OMITTED, COUNTED, PARTS };
struct part {
    uint64_t bytes;
    uint64_t first_at, last_at; /* ns, when its first and last read ended; 0: none */
    uint64_t began;             /* its time */
    uint64_t first, lying; /* bytes of the first read, and left behind by it, if they came before */
};

/* A receiver's task and, afterwards, what it saw. */
struct receiver {
    const struct launch *launch;
    int fd, control;
    ssize_t (*take)(struct receiver *);  /* 0 at the end, -1 with errno */
    size_t chunk;
    unsigned char *data;
    int pipe[2], sink; /* for splice; 0: none */
    uint64_t limit;    /* the moment when it must be over */
    uint64_t omit;     /* ns, from the very first read of all */
    atomic_uint_fast64_t *origin; /* that, which the receivers share; 0: not yet */
    uint64_t next;     /* the moment from which a read is looked at */
    uint64_t bytes;    /* all */
    uint64_t last_at;  /* when the last read ended */
    struct part parts[PARTS]; /* that counted: from the first read that counts */
    struct usage omitted_usage;
    struct intervals intervals;
};

/* What several receivers saw together of what counts: the bytes that came after their time began,
 * with the very first read of it, over the time from that to the last read of all. */
struct reception {
    uint64_t bytes, timed;
    double elapsed;
    struct omitted omitted;
};

/* Whatever takes memory is made before the test begins, for the connections that the mode has, on
 * the CPU of each one's thread: the first has the number `first` in its team. What is sent is the
 * source that was opened last. */
void prepare_senders(struct sender *senders, const struct launch *launch, bool server,
                     size_t count);
void prepare_receivers(struct receiver *receivers, const struct launch *launch, bool server,
                       size_t first, size_t count);

/* Fails with BAD_PARAMETER if at the rate asked for a connection would seem dead. */
void check_rate(const struct launch *launch);

/* The connections and the work of this replication. */
void set_senders(struct sender *senders, const struct launch *launch, const int fds[],
                 int control, const struct trial *trial, size_t count);
void set_receivers(struct receiver *receivers, const int fds[], int control,
                   const struct trial *trial, size_t count);

/* A thread's work: sends its share and shuts its direction down; receives until that has come. */
void send_flow(void *sender);
void receive_flow(void *receiver);

/* Waits until the other ends' kernels have everything. */
void wait_until_sent(struct sender *senders, size_t count);

/* How the senders' kernel saw their connections; once all was sent. windows as in read_path. */
struct path path_of(const struct sender *senders, const uint64_t windows[], size_t count);

/* Seconds from the first one's beginning to the last one's end. */
double sending_seconds(const struct sender *senders, size_t count);
uint64_t sent_bytes(const struct sender *senders, size_t count); /* that count */
uint64_t sent_messages(const struct sender *senders, size_t count);
struct reception sum_received(const struct receiver *receivers, size_t count, struct usage *usage);

/* What the senders did in the omitted part, whose CPU time is taken out of usage. */
struct omitted sum_omitted(const struct sender *senders, size_t count, struct usage *usage);

void add_received(struct fields *fields, const struct reception *sum);

/* bit/s; fails with SHORT_COUNT if what arrived, the omitted part included, is not what was sent,
 * with TOO_SHORT if what counts has no rate; a warm-up's is NAN then. */
double rate_of(const struct result *result, const struct reception *sum, double sent);

/* The connections' intervals together. retransmits: of what counts, once all has arrived. count 0:
 * those of a peer, yet to be received. */
struct intervals *sent_intervals(const struct sender *senders, const struct trial *trial,
                                 uint64_t retransmits, size_t count);
struct intervals *received_intervals(const struct launch *launch, const struct trial *trial,
                                     struct receiver *receivers, size_t count);

#endif
