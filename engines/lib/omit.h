/* The parameter omit: the beginning of a replication, measured apart from what counts. */
#ifndef RAIL_OMIT_H
#define RAIL_OMIT_H

#include "network.h"

#define OMIT_PARAMETER                                                                            \
    {"omit", TIME, "0", 0, 86400, NULL, "stream", "iperf3 -O",                                    \
     "length of a beginning that doesn't count, before duration or count, in each replication: "  \
     "a connection's slow start, say, which a warm-up can't take away. The same connections or "  \
     "streams go on; what was omitted has metrics of its own; 0: none",                           \
     .implied = "0"}

/* For the table's optional metrics, too: they are there only with omit. */
#define OMITTED_NAMES                                                                             \
    "omitted_throughput|omitted_sent_bytes|omitted_received_bytes|omitted_client_user_time|"      \
    "omitted_server_user_time"

#define OMITTED_METRICS                                                                           \
    {"omitted_throughput", "bit/s", "neither", "stream",                                          \
     "with omit: payload bits that reached the server in the omitted beginning after what had "   \
     "come when it had first looked, over its time from then",                                    \
     "omitted Mbit/s", 1e6, 3},                                                                   \
    {"omitted_sent_bytes", "B", "neither", "stream",                                              \
     "with omit: payload bytes the client sent before those of sent_bytes", NULL, 1, 0},          \
    {"omitted_received_bytes", "B", "neither", "stream",                                          \
     "with omit: payload bytes the server received before those of received_bytes", NULL, 1, 0},  \
    {"omitted_client_user_time", "s", "neither", "stream",                                        \
     "with omit: the client's user CPU time before that of client_user_time", NULL, 1, 3},        \
    {"omitted_server_user_time", "s", "neither", "stream",                                        \
     "with omit: the server's user CPU time before that of server_user_time", NULL, 1, 3}

/* What an end did in the omitted part. */
struct omitted {
    double bytes;
    double timed, elapsed;          /* a receiver's: bytes that came in so many seconds */
    uint64_t retransmits, segments; /* a TCP sender's */
    struct usage usage;
};

/* Takes the omitted part's CPU time out of the whole; adds up one thread's. */
void omit_usage(struct usage *whole, struct omitted *sum, const struct usage *part);

/* The server's, as fields. */
void add_omitted(struct fields *reply, const struct omitted *omitted);

/* Sets OMITTED_METRICS and returns the bytes received then. */
double set_omitted(struct result *result, const struct fields *reply,
                   const struct omitted *client);

#endif
