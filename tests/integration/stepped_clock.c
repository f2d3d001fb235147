/* A wall clock that is set while a program runs, for LD_PRELOAD: by as many seconds as the file says
 * that CLOCK_STEP names, from when that file is there. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *t)
{
    int status = (int)syscall(SYS_clock_gettime, id, t);
    const char *name = getenv("CLOCK_STEP");
    FILE *file = status == 0 && id == CLOCK_REALTIME && name ? fopen(name, "r") : NULL;
    long seconds = 0;
    if (file) {
        if (fscanf(file, "%ld", &seconds) == 1)
            t->tv_sec += seconds;
        fclose(file);
    }
    return status;
}
