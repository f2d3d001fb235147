/* What arrived in a replication, over all streams, and what a server says of it. */
#ifndef RAIL_UDP_RECEPTION_H
#define RAIL_UDP_RECEPTION_H

#include "../lib/engine.h"
#include "../lib/omit.h"

/* What arrived, over all streams. */
struct reception {
    uint64_t received;   /* different datagrams */
    uint64_t timed;      /* of those, what came between receivers' first and last catching up */
    uint64_t duplicates, reordered;
    uint64_t drops;      /* datagrams that the socket had no room for */
    bool drops_known;    /* with GRO they may not be */
    uint64_t arrived;    /* all of ours, duplicates among them */
    double elapsed;      /* s between these */
    struct omitted omitted;
    double drain;        /* s of silence after which the rest is lost */
    double polled;       /* s of CPU time spent looking for data in vain */
};

/* The server's report of it, and back. sent: datagrams sent to it. */
void add_reception(struct fields *fields, const struct reception *reception);
struct reception take_reception(const struct fields *fields, uint64_t sent);

/* Sets throughput ... reordered_packets; prefix: "" or "reverse_". */
void reception_result(const struct launch *launch, const struct reception *reception,
                      const char *prefix, uint64_t sent, struct result *result);

#endif
