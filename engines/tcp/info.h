/* What the kernel knows of connections (TCP_INFO), summed up for a replication. */
#ifndef RAIL_TCP_INFO_H
#define RAIL_TCP_INFO_H

#include "../lib/network.h"

/* What a connection's TCP thinks while it is still sending: closing it would disturb that, as the
 * last acknowledgement may be a delayed one. */
struct mood {
    double rtt, rtt_variance; /* seconds */
    double congestion_window; /* bytes */
    double delivery_rate;     /* bit/s; 0: not told */
};

/* Of one direction: how its senders' kernel saw it. */
struct path {
    struct mood mood;               /* mean of the round trips, sum of the others */
    uint64_t retransmits, segments; /* segments: 0 if the kernel does not count them */
    double min_rtt;                 /* seconds, smallest; 0: not told */
    double window, window_bound;    /* bytes and bit/s, sums; 0: not told */
};

struct mood read_mood(int fd);

/* The largest receive window that each connection of this end may offer its peer, as fields
 * window0, window1 ...; and how they are read. */
void add_windows(struct fields *fields, const int fds[], size_t count);
void take_windows(const struct fields *fields, uint64_t windows[], size_t count);

/* Once all has arrived. windows: what the peer offers; NULL: not known, and so no bound. */
struct path read_path(const int fds[], const struct mood moods[], const uint64_t windows[],
                      size_t count);

/* link_rate: bit/s, 0: not known. */
void set_path(struct result *result, const struct path *path, double link_rate);

#endif
