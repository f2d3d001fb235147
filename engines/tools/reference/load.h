/* A load of which it is certain what it takes. */
#ifndef RAIL_REFERENCE_LOAD_H
#define RAIL_REFERENCE_LOAD_H

#include <sys/types.h>

/* On each CPU that this process may use, for a share of the time. Adds a line to the file: CPU
 * seconds, seconds, idle seconds of all CPUs, CPU seconds of `root` and what it started. */
void burn(const char *file, double share, double seconds, pid_t root);

#endif
