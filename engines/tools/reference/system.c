#include "system.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void give_up(const char *subject)
{
    fprintf(stderr, "rail-reference: %s: %s\n", subject, strerror(errno));
    exit(1);
}

double seconds_of(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        give_up("clock_gettime");
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double elapsed_now(void)
{
    return seconds_of(CLOCK_MONOTONIC_RAW);
}

void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        give_up("pinning to the CPU");
}

void add_line(const char *file, const double *numbers, size_t count)
{
    FILE *out = fopen(file, "ae");
    bool whole = out != NULL;
    for (size_t i = 0; whole && i < count; i++)
        whole = fprintf(out, "%.9f%c", numbers[i], i + 1 < count ? ' ' : '\n') > 0;
    if (!whole || fclose(out) != 0)
        give_up(file);
}
