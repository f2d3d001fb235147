#include "clock.h"

#include <sys/resource.h>

double utc_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double timeval_seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static struct rusage used_so_far(void)
{
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    return used;
}

static double ran_so_far(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void usage_begin(struct usage *usage)
{
    struct rusage used = used_so_far();
    usage->ran = ran_so_far();
    usage->user = timeval_seconds(used.ru_utime);
    usage->system = timeval_seconds(used.ru_stime);
    usage->began = now_ns();
}

void usage_end(struct usage *usage)
{
    usage->elapsed = ns_seconds(now_ns() - usage->began);
    usage->ran = ran_so_far() - usage->ran;
    struct rusage used = used_so_far();
    usage->user = timeval_seconds(used.ru_utime) - usage->user;
    usage->system = timeval_seconds(used.ru_stime) - usage->system;
}
