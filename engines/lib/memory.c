#include "memory.h"

#include "failure.h"

#include <stdlib.h>
#include <string.h>

unsigned char *test_buffer(size_t size)
{
    unsigned char *buffer = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    if (buffer == NULL)
        fail(OUT_OF_MEMORY, "no memory for a buffer of %zu bytes: use smaller ones", size);
    /* Not zero, so that no page can be shared with the kernel's page of zeros. */
    memset(buffer, TEST_BYTE, size);
    return buffer;
}
