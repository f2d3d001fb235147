#include "clock.h"

#include <sys/resource.h>

double utc_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double timeval_seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void read_usage(struct usage *usage)
{
    struct rusage r;
    getrusage(RUSAGE_THREAD, &r);
    usage->user = timeval_seconds(r.ru_utime);
    usage->system = timeval_seconds(r.ru_stime);
    usage->elapsed = ns_seconds(now_ns());
}

void usage_begin(struct usage *usage)
{
    read_usage(usage);
}

void usage_end(struct usage *usage)
{
    struct usage now;
    read_usage(&now);
    usage->user = now.user - usage->user;
    usage->system = now.system - usage->system;
    usage->elapsed = now.elapsed - usage->elapsed;
}
