/* rail-watch's JSON lines. Numbers of counters and differences are whole, within 64 bits. */
#ifndef RAIL_WATCH_EVENTS_H
#define RAIL_WATCH_EVENTS_H

#include "output.h"
#include "sources.h"

#include "../../lib/failure.h"
#include "../../lib/marks.h"

void emit_ready(struct output *output, const struct sources *sources, double interval,
                double started_at);
void emit_error(struct output *output, enum failure failure, const char *message);
void emit_done(struct output *output);

/* Each first has the counters that are new, labelled or gone, then what changed since the line
 * before. at: seconds since the start. A sample may be left out: then its differences are in the
 * next line. */
void emit_sample(struct output *output, struct table *table, double at);
void emit_mark(struct output *output, struct table *table, double at, const struct mark *mark);
void emit_moment(struct output *output, struct table *table, double at, const char *label);

#endif
