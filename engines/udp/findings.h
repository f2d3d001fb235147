/* What a trace shows. */
#ifndef RAIL_UDP_FINDINGS_H
#define RAIL_UDP_FINDINGS_H

#include "../lib/engine.h"
#include "../lib/result.h"
#include "../lib/trace.h"

/* Sets jitter ... sequence_last; by hand also the loss runs, as the result's output. */
void set_findings(const struct launch *launch, const struct trace *trace, struct result *result);

/* Adds a replication's arrivals to the file, which is emptied before the first: a line each with
 * sequence number, receive time and send time, in seconds since the first arrival's. */
void write_arrivals(const char *path, long replication, const struct trace *trace);

#endif
