/* A launch for each size of a series. */
#ifndef RAIL_SERIES_H
#define RAIL_SERIES_H

#include "engine.h"

/* Calls run with a launch for each of 1, 2, 4 ... times series->first, up to the value that the
 * series' own launch has. Each is valid until the next one. */
void run_series(const struct launch *launch, const struct series *series,
                void (*run)(const struct launch *, const void *context), const void *context);

#endif
