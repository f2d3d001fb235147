#include "soakers.h"

#include "kernel_times.h"

#include "../../lib/clock.h"
#include "../../lib/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define READING_NS 20000  /* a reading that took longer was interrupted */
#define LOOK_ATTEMPTS 5

static void find_cpus(struct soakers *soakers)
{
    cpu_set_t allowed;
    soakers->count = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        fail(SYSTEM_ERROR, "cannot find out which CPUs may be used: %s", strerror(errno));
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &allowed))
            soakers->cpus[soakers->count++] = cpu;
}

static void open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        fail(SYSTEM_ERROR, "cannot make a pipe: %s", strerror(errno));
}

static void await_start(struct soakers *soakers)
{
    struct keeper_report report;
    if (read(soakers->over, &report, sizeof report) != sizeof report)
        fail(SYSTEM_ERROR, "the soakers ended while they were started");
    if (report.error)
        fail(SYSTEM_ERROR, "cannot start a soaker on CPU %d: %s", report.cpu,
             strerror(report.error));
    for (size_t i = 0; i < soakers->count; i++) {
        int error = clock_getcpuclockid(soakers->shared[i].pid, &soakers->clocks[i]);
        if (error)
            fail(SYSTEM_ERROR, "cannot read the CPU time of the soaker on CPU %d: %s",
                 soakers->cpus[i], strerror(error));
    }
}

void soakers_start(struct soakers *soakers, int lock, unsigned longest)
{
    int stop_pipe[2], over[2];
    find_cpus(soakers);
    size_t size = soakers->count * sizeof *soakers->shared;
    soakers->shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (soakers->shared == MAP_FAILED)
        fail(OUT_OF_MEMORY, "no memory for %zu counters", soakers->count);
    open_pipe(stop_pipe);
    open_pipe(over);
    soakers->keeper = fork();
    if (soakers->keeper < 0)
        fail(SYSTEM_ERROR, "cannot start a process: %s", strerror(errno));
    if (soakers->keeper == 0) {
        close(lock);
        close(stop_pipe[1]);
        close(over[0]);
        keep_soakers(soakers, stop_pipe[0], over[1], longest);
    }
    close(stop_pipe[0]);
    close(over[1]);
    soakers->stop_pipe = stop_pipe[1];
    soakers->over = over[0];
    await_start(soakers);
}

void soakers_stop(struct soakers *soakers)
{
    close(soakers->stop_pipe);
    while (waitpid(soakers->keeper, NULL, 0) < 0 && errno == EINTR)
        ;
}

static uint64_t cpu_time(const struct soakers *soakers, size_t index)
{
    struct timespec t;
    if (clock_gettime(soakers->clocks[index], &t) != 0)
        fail(SYSTEM_ERROR, "the soaker on CPU %d has ended", soakers->cpus[index]);
    return (uint64_t)t.tv_sec * NANOSECONDS + (uint64_t)t.tv_nsec;
}

/* The three belong together unless something got in between. */
static void look_at(const struct soakers *soakers, size_t index, struct reading *reading)
{
    for (int attempt = 0; attempt < LOOK_ATTEMPTS; attempt++) {
        reading->at = now_ns();
        reading->ran = cpu_time(soakers, index);
        reading->loops = atomic_load_explicit(&soakers->shared[index].loops, memory_order_relaxed);
        if (now_ns() - reading->at < READING_NS)
            break;
    }
}

void soakers_read(const struct soakers *soakers, struct reading *readings)
{
    struct kernel_times times[CPU_SETSIZE];
    kernel_times(soakers->cpus, soakers->count, times);
    for (size_t i = 0; i < soakers->count; i++) {
        look_at(soakers, i, &readings[i]);
        readings[i].busy = times[i].busy;
        readings[i].stolen = times[i].stolen;
    }
}

struct reading *readings_new(const struct soakers *soakers, size_t times)
{
    struct reading *readings = calloc(soakers->count * times, sizeof *readings);
    if (readings == NULL)
        fail(OUT_OF_MEMORY, "no memory for the soakers' counters");
    return readings;
}

void soakers_check(const struct soakers *soakers)
{
    struct pollfd over = {.fd = soakers->over, .events = POLLIN};
    if (poll(&over, 1, 0) > 0)
        fail(SYSTEM_ERROR, "the soakers were ended by somebody");
    for (size_t i = 0; i < soakers->count; i++) {
        cpu_set_t set;
        if (sched_getaffinity(soakers->shared[i].pid, sizeof set, &set) != 0 ||
            CPU_COUNT(&set) != 1 || !CPU_ISSET((size_t)soakers->cpus[i], &set))
            fail(SYSTEM_ERROR, "CPU %d was taken from its soaker: somebody switched it off or "
                               "moved the soaker", soakers->cpus[i]);
    }
}
