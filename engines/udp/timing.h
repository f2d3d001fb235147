/* When the datagrams of streams came, and the span of time that their rate is of. */
#ifndef RAIL_UDP_TIMING_H
#define RAIL_UDP_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One stream's. Times in ns. */
struct timing {
    uint64_t first_at, with_first, last_at; /* 0: none came; datagrams that came with the first */
    uint64_t first_sent, last_sent;         /* by the sender's clock; 0: they don't say */
    uint64_t caught_up_at; /* when nothing more was there to take for the first time; 0: never */
    uint64_t at_catch_up, catch_up_sent; /* datagrams until then; the newest one's first_sent */
};

/* Where time begins and ends, over all streams, and what came until it began. */
struct span {
    uint64_t begin, end;            /* ns */
    uint64_t first_sent, last_sent; /* likewise, by the sender's clock */
    uint64_t before;                /* datagrams */
};

/* Of so many streams, which received so many datagrams together. */
struct span timed_span(const struct timing *const streams[], size_t count, uint64_t received);

/* Its length in ns; stamped: arrivals have the kernel's times; prepared_at: nothing was sent before. */
uint64_t span_elapsed(const struct span *span, bool stamped, uint64_t prepared_at);

#endif
