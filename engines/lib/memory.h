/* Memory for test data. */
#ifndef RAIL_MEMORY_H
#define RAIL_MEMORY_H

#include <stddef.h>

/* Filled, so that every page is there before the test; or fail(OUT_OF_MEMORY). */
unsigned char *test_buffer(size_t size);

#endif
