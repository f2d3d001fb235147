/* How much memory may be taken without pushing something else out. */
#ifndef RAIL_MEM_AVAILABLE_H
#define RAIL_MEM_AVAILABLE_H

#include <stddef.h>

/* Fails with OUT_OF_MEMORY unless this host, this process's control groups and, if node is one
 * (not -1), that NUMA node can give so many bytes. */
void must_be_available(double bytes, int node);

/* Likewise of reserved huge pages of that size. */
void must_be_reserved(double bytes, size_t page, int node);

#endif
