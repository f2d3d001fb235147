#include "memory.h"

#include "failure.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned char *test_buffer(size_t size)
{
    unsigned char *buffer = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    if (buffer == NULL)
        fail(OUT_OF_MEMORY, "no memory for a buffer of %zu bytes: use smaller ones", size);
    /* Not zero, so that no page can be shared with the kernel's page of zeros. */
    memset(buffer, TEST_BYTE, size);
    return buffer;
}

void must_fit(size_t count, size_t size)
{
    double required = (double)count * (double)size;
    double physical = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (required > physical / 2)
        fail(OUT_OF_MEMORY,
             "the test asks for %zu times %zu bytes of memory, more than half of the %.0f bytes "
             "that this host has: use smaller or fewer",
             count, size, physical);
}
