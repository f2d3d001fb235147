/* For LD_PRELOAD: says of each large aligned_alloc what size it asks for and on which CPU alone its
 * thread may run (-1: on several), a line each in the file that FIRST_TOUCH names. */
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static int out = -1;

/* A server opens no file later. */
__attribute__((constructor)) static void open_log(void)
{
    out = open(getenv("FIRST_TOUCH"), O_WRONLY | O_CREAT | O_APPEND, 0600);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    void *(*next)(size_t, size_t) = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
    cpu_set_t set;
    int cpu = -1;
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; CPU_COUNT(&set) == 1 && i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &set))
            cpu = i;
    dprintf(out, "%zu %d\n", size, cpu);
    return next(alignment, size);
}
