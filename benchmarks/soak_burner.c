/* Burns a share of one CPU in periods of 10 ms, by its own CPU clock: soak_burner CPU SHARE SECONDS.
 * Begins when a line comes on standard input and prints at the end what it burned, in seconds, by
 * its CPU clock and by getrusage. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define PERIOD 0.01 /* seconds */

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_until(double moment)
{
    struct timespec t = {.tv_sec = (time_t)moment};
    t.tv_nsec = (long)((moment - (double)t.tv_sec) * 1e9);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static double own_account(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    double share = atof(argv[2]), seconds = atof(argv[3]);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)atoi(argv[1]), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0 || getchar() == EOF)
        return 1;
    double account = own_account(), used = now(CLOCK_PROCESS_CPUTIME_ID);
    double began = now(CLOCK_MONOTONIC);
    for (double due = PERIOD; due <= seconds + PERIOD / 2; due += PERIOD) {
        while (now(CLOCK_PROCESS_CPUTIME_ID) - used < due * share &&
               now(CLOCK_MONOTONIC) < began + due)
            for (volatile int i = 0; i < 200; i++)
                ;
        if (share < 1)
            sleep_until(began + due);
    }
    printf("%.6f %.6f\n", now(CLOCK_PROCESS_CPUTIME_ID) - used, own_account() - account);
    return 0;
}
