/* A clock that goes wrong, for LD_PRELOAD: 0.4 ms fast every second. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *t)
{
    int status = (int)syscall(SYS_clock_gettime, id, t);
    if (status == 0 && id == CLOCK_MONOTONIC_RAW) {
        long long ns = t->tv_sec * 1000000000ll + t->tv_nsec;
        ns += ns / 2500;
        t->tv_sec = ns / 1000000000;
        t->tv_nsec = ns % 1000000000;
    }
    return status;
}
