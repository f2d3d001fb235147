/* The CPUs that a process may use, in the order in which threads fill a machine. */
#ifndef RAIL_CORES_H
#define RAIL_CORES_H

#include <sched.h>
#include <stddef.h>

#define CPU_LIMIT 1024 /* entries of a list */

/* One CPU of each core first, then each core's second, and so on; within that by number. Returns
 * how many. folder: where the kernel lists siblings, /sys/devices/system/cpu; a CPU that it says
 * nothing of counts as a core of its own. */
size_t cores_first(const char *folder, const cpu_set_t *allowed, int cpus[CPU_LIMIT]);

/* Likewise of the CPUs that this process may use, as they were when this was first called: a
 * thread that is pinned later doesn't change them. */
size_t usable_cpus(int cpus[CPU_LIMIT]);

#endif
