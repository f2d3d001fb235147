#include "clock.h"

#include <math.h>
#include <sys/resource.h>

#define STEP_SECONDS 1e-3 /* two clocks of a host differ by more only if one was set... */
#define STEP_SHARE 1e-3   /* ...or slewed by more than any daemon does */

struct clock_readings read_clocks(void)
{
    struct clock_readings now;
    now.wall = wall_ns();
    now.raw = now_ns();
    return now;
}

double wall_clock_step(const struct clock_readings *since)
{
    double raw = ns_seconds(now_ns() - since->raw);
    double step = (double)(int64_t)(wall_ns() - since->wall) / 1e9 - raw;
    return fabs(step) > STEP_SECONDS + STEP_SHARE * raw ? step : 0;
}

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

static struct rusage used_so_far(bool of_process)
{
    struct rusage used;
    getrusage(of_process ? RUSAGE_SELF : RUSAGE_THREAD, &used);
    return used;
}

static double ran_so_far(bool of_process)
{
    struct timespec t;
    clock_gettime(of_process ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void begin(struct usage *usage, bool of_process)
{
    struct rusage used = used_so_far(of_process);
    usage->of_process = of_process;
    usage->ran = ran_so_far(of_process);
    usage->user = timeval_seconds(used.ru_utime);
    usage->system = timeval_seconds(used.ru_stime);
    usage->began = now_ns();
}

void usage_begin(struct usage *usage)
{
    begin(usage, false);
}

void usage_begin_process(struct usage *usage)
{
    begin(usage, true);
}

void usage_end(struct usage *usage)
{
    usage->elapsed = ns_seconds(now_ns() - usage->began);
    usage->ran = ran_so_far(usage->of_process) - usage->ran;
    struct rusage used = used_so_far(usage->of_process);
    usage->user = timeval_seconds(used.ru_utime) - usage->user;
    usage->system = timeval_seconds(used.ru_stime) - usage->system;
}
