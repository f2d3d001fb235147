#include "load.h"

#include "family.h"
#include "system.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHORTEST_PERIOD 0.05 /* s of load and rest; their lengths vary, so that the kernel's tick, */
#define LONGEST_PERIOD 0.15  /* by which it counts CPU time, doesn't keep meeting the same phase */

static void spin_until(double moment)
{
    while (elapsed_now() < moment)
        for (volatile int i = 0; i < 200; i++)
            ;
}

static void sleep_until(double moment)
{
    double rest = moment - elapsed_now();
    struct timespec pause = {.tv_sec = (time_t)rest};
    pause.tv_nsec = (long)((rest - floor(rest)) * 1e9);
    if (rest > 0)
        nanosleep(&pause, NULL);
}

/* One CPU's load: by turns busy and idle, at the same times as all others, so that two CPUs of one
 * core have one load. */
static void burn_one(int cpu, double share, double begin, double end)
{
    unsigned short seed[3] = {0, 1, 2};
    double period;
    pin(cpu);
    for (double moment = begin; moment < end; moment += period) {
        period = SHORTEST_PERIOD + (LONGEST_PERIOD - SHORTEST_PERIOD) * erand48(seed);
        period = fmin(period, end - moment);
        spin_until(moment + share * period);
        sleep_until(moment + period);
    }
    _exit(0);
}

/* Of all CPUs together, as /proc/uptime counts; 0 where it can't be read. */
static double idle_seconds(void)
{
    double idle = 0;
    FILE *uptime = fopen("/proc/uptime", "re");
    if (uptime != NULL) {
        if (fscanf(uptime, "%*f %lf", &idle) != 1)
            idle = 0;
        fclose(uptime);
    }
    return idle;
}

static double cpu_seconds(int who)
{
    struct rusage used;
    if (getrusage(who, &used) != 0)
        give_up("getrusage");
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

void burn(const char *file, double share, double seconds, pid_t root)
{
    cpu_set_t set;
    bool whole = true;
    int status;
    static struct family before, now;
    double begin = elapsed_now(), idle = idle_seconds();
    look_at_family(root, &before);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        give_up("the CPUs of this process");
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, &set))
            continue;
        pid_t child = fork();
        if (child < 0)
            give_up("fork");
        if (child == 0)
            burn_one(cpu, share, begin, begin + seconds);
    }
    while (wait(&status) > 0)
        whole = whole && status == 0;
    idle = idle_seconds() - idle;
    if (!whole) {
        errno = ECHILD;
        give_up("a CPU's load ended early");
    }
    double used = cpu_seconds(RUSAGE_CHILDREN) + cpu_seconds(RUSAGE_SELF);
    look_at_family(root, &now);
    double elapsed = elapsed_now() - begin;
    add_line(file, (double[]){used, elapsed, idle, family_seconds(&before, &now)}, 4);
}
