/* The kernel's state of connections (TCP_INFO), summed up for a replication. */
#ifndef RAIL_TCP_INFO_H
#define RAIL_TCP_INFO_H

#include "../lib/network.h"

/* What a connection's TCP thinks while it is still sending: closing it would disturb that, as the
 * last acknowledgement may be a delayed one. */
struct tcp_state {
    double rtt, rtt_variance; /* seconds */
    double congestion_window; /* bytes */
    double delivery_rate;     /* bit/s; 0: unknown */
    double offered;           /* bytes that the other end's window had; 0: unknown */
    uint64_t retransmits, segments; /* so far; segments: 0 if the kernel does not count them */
    double busy, window_limited; /* seconds with data under way, and of these without room in that
                                 window; busy 0: unknown */
};

/* What was seen of a connection while it was sending. */
struct samples {
    uint64_t count;
    double rtt;     /* seconds, sum of the smoothed round trips */
    double offered; /* bytes, the largest window */
    uint64_t segments; /* so far; 0 if the kernel does not count them */
};

/* Of one direction: how its senders' kernel saw it. */
struct path {
    struct tcp_state state; /* mean over the connections of the round trips, sum of the others */
    uint64_t retransmits, segments; /* segments: 0 if the kernel does not count them */
    double min_rtt;                 /* seconds, smallest; 0: unknown */
    double window;                  /* bytes, sum; 0: unknown */
    double bound, ceiling;          /* bit/s, sums; 0: unknown */
};

/* samples: of the same thread, for the count of segments to go on from. */
struct tcp_state read_tcp_state(int fd, const struct samples *samples);

/* Adds a sample, unless the connection's sending is over; of what doesn't count, of the segments
 * alone. */
void sample_connection(int fd, bool counts, struct samples *samples);

/* The state of the end becomes that of the whole time. */
void merge_samples(struct tcp_state *state, const struct samples *own,
                   const struct samples *sampler);

/* The largest receive window that each connection of this end may offer its peer, as fields
 * window0, window1 ...; and how they are read. */
void add_windows(struct fields *fields, const int fds[], size_t count);
void take_windows(const struct fields *fields, uint64_t windows[], size_t count);

/* Once all has arrived. windows: what the peer may offer; NULL: not known, and so no bound. */
struct path read_path(const int fds[], const struct tcp_state states[], const uint64_t windows[],
                      size_t count);

/* Leaves out what was before that state of one of its connections. */
void leave_out(struct path *path, const struct tcp_state *before);

/* link_rate: bit/s, 0: not known. */
void set_path(struct result *result, const struct path *path, double link_rate);

#endif
