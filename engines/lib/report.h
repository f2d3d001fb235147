/* What an engine prints: JSON events (schema/record.schema.json), or lines and a table
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
/* The warnings alone. */
void report_warnings(const char *side, const struct fields *fields);
void report_warning(const char *code, const char *side, const char *message);
/* A warning for each setting that does nothing in this mode: no mistake in a grid, but nobody
 * should think that it did something. */
void report_idle_parameters(const struct launch *launch);
/* The replication that later failures belong to; -1: none. */
void report_current(long number);
void report_replication(long number, double started_at, const struct result *result);
/* What one rank measured towards each of the others, a value for each of count ranks (that at from
 * is none), before the replication's own event. By hand it shows nothing. */
struct row {
    const char *metric; /* NULL ends an array of rows */
    const double *values;
};
void report_row(long number, int from, const struct row *rows, int count);
void report_done(long replications);
/* The trace of the replication that is reported next, as events; by hand it shows nothing. */
void report_trace(long number, const unsigned char *bytes, size_t length);
/* The launches that follow are one table for people, a row a size. */
void report_series(const struct launch *launch, const struct series *series);
/* A failure_sink. */
void report_failure(enum failure failure, const char *message);

#endif
