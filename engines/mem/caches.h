/* The caches between a CPU and its memory. */
#ifndef RAIL_MEM_CACHES_H
#define RAIL_MEM_CACHES_H

#include <sched.h>
#include <stddef.h>

#define CACHE_LEVELS 4

struct cache {
    int level;
    size_t size;      /* bytes */
    cpu_set_t shared; /* the CPUs that it serves */
};

/* The data caches of that CPU, nearest first; returns how many there are, 0 if they are unknown. */
size_t caches_of(int cpu, struct cache caches[CACHE_LEVELS]);

#endif
