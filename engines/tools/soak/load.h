/* From readings of the soakers to what everything else took. */
#ifndef RAIL_SOAK_LOAD_H
#define RAIL_SOAK_LOAD_H

#include "soakers.h"

/* How a soaker does: on an idle machine that is the measure for all others. */
struct pace {
    double share; /* of the time that the CPU was there that it got */
    double rate;  /* loops per second of its own CPU time */
};

/* What became of one CPU's time between two readings. All but the seconds are shares of 1. */
struct load {
    double load;     /* what all others took: 1 - (1 - lost)(1 - slowdown) */
    double lost;     /* the time that the soaker got less than at calibration */
    double slowdown; /* how much slower it was in its own time */
    double steal;    /* of elapsed: what the hypervisor gave to other machines */
    double kernel;   /* from /proc/stat: user, system, irq and softirq */
    double elapsed;  /* seconds */
    double seconds;  /* CPU seconds that all others took */
};

struct pace pace_between(const struct reading *before, const struct reading *after);

/* The load of a CPU whose soaker, alone, would have had that pace. Noise may make any of it
 * slightly negative. */
struct load load_between(const struct reading *before, const struct reading *after,
                         const struct pace *idle);

/* All CPUs together: means, and the sum of the seconds. */
struct load load_of_all(const struct load *loads, size_t count);

#endif
