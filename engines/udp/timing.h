/* When the datagrams of streams came, and the span of time that their rate is of. */
#ifndef RAIL_UDP_TIMING_H
#define RAIL_UDP_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When a receiver had taken all that lay there: exactly so many datagrams had come, however late
 * its CPU was. */
struct catch_up {
    uint64_t at;    /* ns; 0: never */
    uint64_t count; /* datagrams until then */
    uint64_t sent;  /* the newest one, as below */
};

/* One stream's. Times in ns. */
struct timing {
    uint64_t first_at, with_first, last_at; /* 0: none came; datagrams that came with the first */
    uint64_t first_sent, last_sent;         /* by the sender's clock; 0: they don't say */
    struct catch_up first;                  /* the first time */
    struct catch_up latest;                 /* 0: not since the last arrival */
    struct catch_up last;                   /* the last time after which more came */
};

/* Where time begins and ends, over all streams, and what came before and after. */
struct span {
    uint64_t begin, end;            /* ns */
    uint64_t first_sent, last_sent; /* likewise, by the sender's clock */
    uint64_t before, after;         /* datagrams */
};

/* Datagrams have come, `count` until now; emptied: after the first ones, and nothing more was
 * there. */
void timing_arrival(struct timing *timing, uint64_t now, uint64_t count, bool emptied);

/* Of `count` streams, each of which received so many datagrams. */
struct span timed_span(const struct timing *const streams[], const uint64_t received[],
                       size_t count);

/* Its length in ns; stamped: arrivals have the kernel's times; prepared_at: nothing was sent
 * before. */
uint64_t span_elapsed(const struct span *span, bool stamped, uint64_t prepared_at);

#endif
