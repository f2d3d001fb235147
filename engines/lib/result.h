/* The metrics of one replication, by the names in the engine's table. */
#ifndef RAIL_RESULT_H
#define RAIL_RESULT_H

#include "clock.h"
#include "engine.h"

struct result {
    const struct engine *engine;
    double values[MAX_METRICS];
    bool present[MAX_METRICS];
    bool warmup; /* whose figures nobody needs: what it was too short for may be missing */
    const char *output; /* rail-exec: what the command printed; NULL: nothing to show */
    size_t output_length;
};

void result_clear(struct result *result, const struct engine *engine);
/* Of a warm-up NAN is none. */
void result_set(struct result *result, const char *name, double value);
/* NAN if a warm-up has none. */
double result_get(const struct result *result, const char *name);
/* side: "client" or "server" */
void result_set_usage(struct result *result, const char *side, const struct usage *usage);

#endif
