/* What an engine tells the world: JSON events (schema/record.schema.json), or lines and a table
 * for people. Each event is flushed as it comes; if nobody can read it, the process ends. */
#ifndef RAIL_REPORT_H
#define RAIL_REPORT_H

#include "failure.h"
#include "fields.h"
#include "result.h"

void report_begin(const struct launch *launch);
void report_listening(int port);
/* client, server: each end's effective settings; server may be NULL. Lines named "warning"
 * ("code sentence") become warning events. */
void report_settings(const struct fields *client, const struct fields *server);
void report_warning(const char *code, const char *side, const char *message);
/* The replication that later failures belong to; -1: none. */
void report_current(long number);
void report_replication(long number, bool warmup, double started_at, const struct result *result);
void report_done(long replications);
/* The trace of the replication that is reported next, as events; by hand it shows nothing. */
void report_trace(long number, const unsigned char *bytes, size_t length);
/* The launches that follow are one table for people, a row a size. */
void report_series(const struct launch *launch, const struct series *series);
/* A failure_sink. */
void report_failure(enum failure failure, const char *message);

#endif
