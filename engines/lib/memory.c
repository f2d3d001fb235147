#include "memory.h"

#include "failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double limit; /* 0: none */

void limit_memory(double bytes)
{
    long pages = 0;
    if (bytes <= 0)
        return;
    limit = bytes;
    FILE *own = fopen("/proc/self/statm", "r");
    if (own == NULL || fscanf(own, "%*d %*d %*d %*d %*d %ld", &pages) != 1)
        pages = 0;
    if (own)
        fclose(own);
    rlim_t most = (rlim_t)((double)pages * (double)sysconf(_SC_PAGESIZE) + bytes);
    if (setrlimit(RLIMIT_DATA, &(struct rlimit){most, most}) != 0)
        fail(SYSTEM_ERROR, "cannot limit the memory to %.0f bytes", bytes);
}

static _Noreturn void beyond_limit(double bytes)
{
    fail(LIMIT_EXCEEDED, "the test needs %.0f bytes of memory, and the server allows %.0f for "
         "everything: ask for less, or start it with a larger --max-memory", bytes, limit);
}

unsigned char *test_buffer(size_t size)
{
    unsigned char *buffer = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    if (buffer == NULL && limit > 0)
        beyond_limit((double)size);
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
    if (limit > 0 && required > limit)
        beyond_limit(required);
    if (required > physical / 2)
        fail(OUT_OF_MEMORY,
             "the test asks for %zu times %zu bytes of memory, more than half of the %.0f bytes "
             "that this host has: use smaller or fewer",
             count, size, physical);
}
