/* Where sysfs has one-number files of this host's CPUs and devices. Each function looks for those
 * that aren't followed yet, below root ("" for this host's own /sys). */
#ifndef RAIL_WATCH_DEVICES_H
#define RAIL_WATCH_DEVICES_H

#include "values.h"

typedef void finder(struct values *values, const char *root);

finder find_frequencies;   /* cpu/cpuN/cpufreq */
finder find_throttling;    /* cpu/cpuN/thermal_throttle */
finder find_fabric;        /* class/infiniband */
/* class/net/IF/statistics, what /proc/net/dev lacks */
finder find_unhandled;  /* packets that nobody wanted: in none of its columns */
finder find_net_errors; /* what its columns of errors are made of */

/* Calls found for each name in the folder, in the order of their names and numbers. */
void each_name(const char *folder, void (*visit)(const char *name, void *context), void *context);

#endif
