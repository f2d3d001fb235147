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

/* A histogram's times, as result_set_times sets them. A percentile is the nearest rank: with fewer
 * than 100, 1000, 10000 values the 99th, 99.9th, 99.99th is simply the longest.
 * Of a percentile that is a headline the place among them is given, 0 for none. The mean is judged
 * where no rate tells what is rarer than the 99th percentile: a segment sent again after 200 ms. */
#define TIME_METRICS(name, mode, what, ends, p50_headline, p99_headline, mean_judged)             \
    {name "_min", "s", "lower", mode, "shortest " what, "min us", 1e-6, 2},                       \
    {name "_mean", "s", "lower", mode, "mean " what "; " ends, "mean us", 1e-6, 2,                \
     .judged = mean_judged},                                                                      \
    {name "_max", "s", "lower", mode, "longest " what, "max us", 1e-6, 2},                        \
    {name "_stdev", "s", "lower", mode, "standard deviation of a " what, NULL, 1e-6, 2},          \
    {name "_p50", "s", "lower", mode, "median " what ", within 0.1 %; " ends, "p50 us", 1e-6, 2,  \
     .headline = p50_headline, .judged = p50_headline},                                           \
    {name "_p90", "s", "lower", mode, "90th percentile of a " what ", within 0.1 %", "p90 us",    \
     1e-6, 2},                                                                                    \
    {name "_p99", "s", "lower", mode,                                                             \
     "99th percentile of a " what ", within 0.1 %, of fewer than 100 the longest; " ends,         \
     "p99 us", 1e-6, 2, .headline = p99_headline, .judged = p99_headline},                        \
    {name "_p999", "s", "lower", mode,                                                            \
     "99.9th percentile of a " what ", within 0.1 %, of fewer than 1000 the longest",             \
     "p99.9 us", 1e-6, 2},                                                                        \
    {name "_p9999", "s", "lower", mode,                                                           \
     "99.99th percentile of a " what ", within 0.1 %, of fewer than 10000 the longest",           \
     NULL, 1e-6, 2}

#define ROUND_TRIP_METRICS                                                                        \
    TIME_METRICS("rtt", "latency", "round trip",                                                  \
                 "from before the client sends (with interval: from when that was due) until it " \
                 "has the answer", 8, 9, true)

#endif
