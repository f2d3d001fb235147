/* What the flows of a replication have counted by the end of each interval: the parameter series. */
#ifndef RAIL_INTERVALS_H
#define RAIL_INTERVALS_H

#include "network.h"

#define SERIES_PARAMETER                                                                          \
    {"series", TIME, "0", 0, 86400, NULL, "stream", "iperf3 -i",                                  \
     "interval of a record over time, from 1ms: what each end has counted by the end of each of " \
     "them, and of TCP the sender's retransmits, window and round trip; what was omitted is in "  \
     "it; a warm-up has none; 0: none",                                                           \
     .implied = "0"}

#define INTERVALS_LIMIT 100000 /* the last one takes whatever comes later */

/* What a column has the readings of. The numbers are those of the format. */
enum quantity {
    SENT_BYTES,
    RETRANSMITS,
    CONGESTION_WINDOW, /* bytes */
    ROUND_TRIP,        /* ns */
    RECEIVED_BYTES,
    SENT_PACKETS,
    RECEIVED_PACKETS,
    LOST_PACKETS,
};

/* One end's, of a flow or of several: readings that begin at 0, taken at the end of each interval.
 * Where the omitted part ends, an interval does, too. */
#define MOST_COLUMNS 4
struct intervals {
    uint64_t length, omit; /* ns; length 0: nobody asked for any */
    uint64_t origin;       /* the moment when the first begins */
    uint64_t next;         /* and when the one that is under way ends; UINT64_MAX: none is */
    uint64_t elapsed;      /* ns from origin to the end of the last, which may be a longer or a
                              shorter one */
    const enum quantity *quantities;
    size_t columns, count, room;
    uint64_t *readings; /* count rows, kept for the next replication */
};

/* Fails with BAD_PARAMETER for intervals that there cannot be. */
void check_intervals(const struct launch *launch);

/* Before the replication: whether and of what it has any. */
void intervals_prepare(struct intervals *intervals, const struct launch *launch,
                       const struct trial *trial, const enum quantity *quantities, size_t columns);

void intervals_begin(struct intervals *intervals, uint64_t origin);

/* All that are over by now end with these readings. */
void intervals_close(struct intervals *intervals, uint64_t now, const uint64_t readings[]);

/* So does the omitted part, and after that what is over by now. */
void intervals_divide(struct intervals *intervals, uint64_t now, const uint64_t readings[]);

/* The last one ends, too. There is one after the omitted part. */
void intervals_finish(struct intervals *intervals, uint64_t now, const uint64_t readings[]);

/* Adds those of a flow, which have ended. */
void intervals_add(struct intervals *sum, const struct intervals *flow);

/* One more has ended, with these readings. */
void intervals_append(struct intervals *intervals, const uint64_t readings[]);

/* How many of them the omitted part has. */
size_t intervals_omitted_count(const struct intervals *intervals);

/* When an interval ended, in ns from origin. */
uint64_t intervals_end(const struct intervals *intervals, size_t index);

/* Adds to a column's readings, at the end of the omitted part or only from then on. */
void intervals_raise(struct intervals *intervals, bool from_end, size_t column, uint64_t amount);

/* The row of readings at the end; and at that of the omitted part: NULL if nothing was omitted. */
uint64_t *intervals_last(const struct intervals *intervals);
uint64_t *intervals_omitted(const struct intervals *intervals);

#endif
