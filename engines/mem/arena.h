/* Memory to measure: from where, and in pages of which size. */
#ifndef RAIL_MEM_ARENA_H
#define RAIL_MEM_ARENA_H

#include "../lib/engine.h"

#include <stddef.h>

/* The bytes that an arena for `wanted` ones takes: whole pages of the size asked for. */
size_t arena_size(const struct launch *launch, size_t bytes);

/* Fails unless `total` bytes of arenas can be had, and the NUMA node is there. */
void arena_check(const struct launch *launch, double total);

/* Maps so many bytes (of arena_size), untouched: whoever touches a page first has it on its node,
 * unless numa_node says where it has to be. Never unmapped: it lives as long as the process. */
unsigned char *arena_map(const struct launch *launch, size_t size);

#endif
