#include "memory.h"

#include "failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double limit; /* 0: none */

static double half_of_host(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 2;
}

void limit_memory(double bytes)
{
    long pages = 0;
    struct rlimit present;
    limit = bytes > 0 ? bytes : half_of_host();
    FILE *own = fopen("/proc/self/statm", "r");
    if (own == NULL || fscanf(own, "%*d %*d %*d %*d %*d %ld", &pages) != 1)
        pages = 0;
    if (own)
        fclose(own);
    rlim_t used = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE), most = used + (rlim_t)limit;
    if (getrlimit(RLIMIT_DATA, &present) == 0 && present.rlim_max < most) {
        most = present.rlim_max; /* whoever started the server allows less */
        limit = most > used ? (double)(most - used) : 1;
    }
    if (setrlimit(RLIMIT_DATA, &(struct rlimit){most, most}) != 0)
        fail(SYSTEM_ERROR, "cannot limit the memory to %.0f bytes", limit);
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
    if (limit > 0 && required > limit)
        beyond_limit(required);
    if (required > half_of_host())
        fail(OUT_OF_MEMORY,
             "the test asks for %zu times %zu bytes of memory, more than half of the %.0f bytes "
             "that this host has: use smaller or fewer",
             count, size, 2 * half_of_host());
}
