/* The metrics that every network engine reports of both its ends. */
#ifndef RAIL_SIDES_H
#define RAIL_SIDES_H

/* modes: those that have a server. */
#define SIDE_METRICS(modes)                                                                       \
    {"client_elapsed", "s", "neither", NULL, "length of the client's test loop", "client s", 1,   \
     3},                                                                                          \
    {"client_user_time", "s", "lower", NULL, "user CPU time of the client's test loop",           \
     "c-user s", 1, 3},                                                                           \
    {"client_system_time", "s", "lower", NULL, "system CPU time of the client's test loop",       \
     "c-sys s", 1, 3},                                                                            \
    {"server_elapsed", "s", "neither", modes,                                                      \
     "stream: the receiver's time from its first to its last data; latency: length of the "      \
     "server's test loop",                                                                        \
     "server s", 1, 3},                                                                           \
    {"server_user_time", "s", "lower", modes, "user CPU time of the server's test loop",           \
     "s-user s", 1, 3},                                                                           \
    {"server_system_time", "s", "lower", modes, "system CPU time of the server's test loop",       \
     "s-sys s", 1, 3}

#define ROUND_TRIP_METRICS                                                                        \
    {"rtt_min", "s", "lower", "latency", "shortest round trip", "min us", 1e-6, 2},               \
    {"rtt_mean", "s", "lower", "latency", "mean round trip", "mean us", 1e-6, 2},                 \
    {"rtt_max", "s", "lower", "latency", "longest round trip", "max us", 1e-6, 2},                \
    {"rtt_p50", "s", "lower", "latency", "median round trip, within 1 %", "p50 us", 1e-6, 2},     \
    {"rtt_p90", "s", "lower", "latency", "90th percentile, within 1 %", "p90 us", 1e-6, 2},       \
    {"rtt_p99", "s", "lower", "latency", "99th percentile, within 1 %", "p99 us", 1e-6, 2},       \
    {"rtt_p999", "s", "lower", "latency", "99.9th percentile, within 1 %", "p99.9 us", 1e-6, 2}

#endif
