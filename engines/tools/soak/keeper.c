#include "keeper.h"

#include "../../lib/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE 64        /* bytes; a step goes on by as many */
#define STEPS 2048     /* in a loop, which is the whole working set */
#define WRITE_EVERY 5  /* steps; the others only read */

/* Reads a byte of each cache line, round and round, and now and then writes one. Each step's sum
 * needs the one before, and memory is volatile: nothing can be left out. */
static _Noreturn void soak(struct soaker *soaker)
{
    volatile unsigned char *memory = test_buffer(WORKING_SET);
    uint32_t sum = 0;
    for (uint64_t loops = 1;; loops++) {
        for (uint32_t step = 0; step < STEPS; step++) {
            volatile unsigned char *byte = memory + step * LINE;
            sum = sum * 31 + *byte;
            if (step % WRITE_EVERY == 0)
                *byte = (unsigned char)sum;
        }
        atomic_store_explicit(&soaker->loops, loops, memory_order_relaxed);
    }
}

static _Noreturn void become_soaker(struct soaker *soaker, pid_t keeper)
{
    prctl(PR_SET_NAME, "rail-soaker");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper)
        _exit(1);
    soak(soaker);
}

/* From outside, as it may not get a CPU to do it itself. Its class has the kernel interrupt it for
 * whoever wakes up; by its nice value /proc/stat counts its time under "nice". */
static int confine(pid_t pid, int cpu)
{
    const struct sched_param none = {.sched_priority = 0};
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(pid, sizeof set, &set) != 0 ||
        setpriority(PRIO_PROCESS, (id_t)pid, 19) != 0 ||
        sched_setscheduler(pid, SCHED_IDLE, &none) != 0)
        return errno;
    return 0;
}

static int start_all(struct soakers *soakers, size_t *started, int *cpu)
{
    pid_t keeper = getpid();
    for (size_t i = 0; i < soakers->count; i++) {
        struct soaker *soaker = &soakers->shared[i];
        *cpu = soakers->cpus[i];
        pid_t pid = fork();
        if (pid < 0)
            return errno;
        if (pid == 0)
            become_soaker(soaker, keeper);
        soaker->pid = pid;
        *started = i + 1;
        int error = confine(pid, *cpu);
        if (error)
            return error;
    }
    return 0;
}

/* Where the kernel groups processes by session (autogroup), the CPU is shared between sessions
 * first: soakers in one of their own would get up to half of it, whatever their class. So that
 * session gets the lowest weight, last: from then on this process, too, gets what is left, which on
 * a busy machine may be nothing for a minute. The kernel lets a user do it ten times a second. */
static void yield_as_session(void)
{
    for (int attempt = 0; attempt < 10; attempt++) {
        int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
        if (fd < 0)
            return; /* a kernel without it */
        ssize_t wrote = write(fd, "19", 2);
        int error = errno;
        close(fd);
        if (wrote == 2 || error != EAGAIN)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
}

static void let_go_of_output(void)
{
    int null_device = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; fd++)
        dup2(null_device, fd);
}

static int watch_children(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

_Noreturn void keep_soakers(struct soakers *soakers, int stop_pipe, int over, unsigned longest)
{
    struct keeper_report report = {0};
    size_t started = 0;
    alarm(longest); /* ends this process, and the soakers with it */
    setsid();
    let_go_of_output();
    int children = watch_children();
    report.error = start_all(soakers, &started, &report.cpu);
    struct pollfd poll_set[] = {{.fd = stop_pipe, .events = POLLIN},
                                {.fd = children, .events = POLLIN}};
    if (write(over, &report, sizeof report) == sizeof report && report.error == 0) {
        yield_as_session();
        while (poll(poll_set, 2, -1) < 0 && errno == EINTR)
            ;
    }
    for (size_t i = 0; i < started; i++)
        kill(soakers->shared[i].pid, SIGKILL);
    for (size_t i = 0; i < started; i++)
        waitpid(soakers->shared[i].pid, NULL, 0);
    _exit(0);
}
