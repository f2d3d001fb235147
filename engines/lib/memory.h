/* Memory for test data. */
#ifndef RAIL_MEMORY_H
#define RAIL_MEMORY_H

#include <stddef.h>

#define TEST_BYTE 0xA5

/* Filled, so that every page is there before the test; or fail(OUT_OF_MEMORY).
 * For free(). */
unsigned char *test_buffer(size_t size);

/* Fails with OUT_OF_MEMORY if count pieces of that size are more than half of what this host has:
 * filling them would push everything else out, or have the kernel kill something. */
void must_fit(size_t count, size_t size);

/* From now on this process, and any that it forks, gets so many bytes beyond what it has; all that
 * goes beyond fails with LIMIT_EXCEEDED. 0: half of what this host has. */
void limit_memory(double bytes);

#endif
