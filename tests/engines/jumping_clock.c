/* A clock that is set, for LD_PRELOAD: ahead by as many seconds as the file JUMP has bytes. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *t)
{
    struct stat jump;
    int status = (int)syscall(SYS_clock_gettime, id, t);
    if (status == 0 && id == CLOCK_MONOTONIC_RAW && stat(getenv("JUMP"), &jump) == 0)
        t->tv_sec += jump.st_size;
    return status;
}
