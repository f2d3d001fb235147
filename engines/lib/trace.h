/* A trace: when each datagram of a replication arrived, or each round trip ended. docs/trace.md has
 * the encoded format. */
#ifndef RAIL_TRACE_H
#define RAIL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_LIMIT 10000000 /* most arrivals that one may hold */

struct arrival {
    uint64_t number;   /* sequence number, from 0 */
    uint64_t received; /* ns, by the receiver's clock */
    uint64_t sent;     /* ns, by the sender's now_ns(); of a round trip: when it was due */
};

/* What stamped the arrivals. REALTIME: what was sent has MONOTONIC_RAW times all the same, as engines
 * did once; REALTIME_BOTH: both have that clock. SENDER_RAW: they are answers, stamped by whom they
 * came back to, so received - sent is a round trip. */
enum trace_clock { MONOTONIC_RAW, REALTIME, SENDER_RAW, REALTIME_BOTH };

struct trace {
    enum trace_clock clock;
    uint64_t sent;     /* datagrams sent */
    uint64_t arrived;  /* arrivals in all, duplicates among them; may be more than recorded */
    uint64_t recorded; /* the first so many are in arrivals */
    struct arrival *arrivals;
};

/* The bytes that trace_encode writes. */
size_t trace_length(const struct trace *trace);
void trace_encode(const struct trace *trace, unsigned char *out);

/* Reads what a peer sent: false with a sentence in problem if it is no trace, else the arrivals
 * are the caller's to free. */
bool trace_decode(const unsigned char *bytes, size_t length, struct trace *trace,
                  const char **problem);

/* Calls each(context, after, lost) for every loss run, in order; after is -1 before the first
 * number. What was lost after the last arrival counts only if every arrival was recorded. */
typedef void loss_run(void *context, int64_t after, uint64_t lost);
void trace_loss_runs(const struct trace *trace, loss_run *on_run, void *context);

/* Jitter in seconds by RFC 3550, 6.4.1, at the end of the trace. */
double trace_jitter(const struct trace *trace);

/* The last arrival before the first loss or reordering; its index, at least 0. */
uint64_t trace_before_loss(const struct trace *trace);

/* By how much the receiver's clock is faster than the sender's, as the least one-way delays show: 1e-6
 * is a microsecond a second. NAN: too few arrivals. *error: its standard uncertainty. */
double trace_skew(const struct trace *trace, double *error);

/* What of that is certain, and no more than clocks differ; else 0. */
double trace_certain_skew(const struct trace *trace);

#endif
