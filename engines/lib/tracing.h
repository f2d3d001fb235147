/* The parameters trace and series and the option --trace-out: what they ask for, and where that
 * goes. */
#ifndef RAIL_TRACING_H
#define RAIL_TRACING_H

#include "intervals.h"
#include "network.h"
#include "trace.h"

/* Fails with BAD_PARAMETER if they ask for what there cannot be. */
void check_trace_asked(const struct launch *launch);

/* Whether this replication is to have one; a warm-up has none. */
bool is_traced(const struct launch *launch, const struct trial *trial);

/* Client: reports a replication's trace, whose encoded bytes these are; by hand into a file. */
void show_trace(const struct launch *launch, const struct trial *trial, const struct trace *trace,
                const unsigned char *bytes, size_t length);

/* Likewise a replication's intervals, those of both ends. */
void show_intervals(const struct launch *launch, const struct trial *trial,
                    const struct intervals *const ends[], size_t count);

#endif
