/* What an engine says of itself, all of it from its tables. */
#ifndef RAIL_DESCRIBE_H
#define RAIL_DESCRIBE_H

#include "engine.h"

/* One JSON document on standard output; its shape is that of schema/engines.json. */
void describe(const struct engine *engine);
void print_help(const struct engine *engine);

#endif
