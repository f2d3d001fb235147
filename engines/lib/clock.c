#include "clock.h"

#include "failure.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id /* older C libraries */
#define sigev_notify_thread_id _sigev_un._tid
#endif

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

#define INTERRUPT SIGRTMIN
#define INTERRUPT_AGAIN 5000000 /* ns: the signal may come just before the call that it is for */

static void do_nothing(int signal)
{
    (void)signal;
}

void allow_interrupts(void)
{
    struct sigaction action = {.sa_handler = do_nothing}; /* without SA_RESTART */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, INTERRUPT);
    sigaction(INTERRUPT, &action, NULL);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

void interrupt_thread(pthread_t thread)
{
    pthread_kill(thread, INTERRUPT);
}

static timer_t make_timer(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = INTERRUPT};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    allow_interrupts();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        fail(SYSTEM_ERROR, "cannot make a timer: %s", strerror(errno));
    return timer;
}

void interrupt_calls(uint64_t at)
{
    static _Thread_local timer_t timer;
    static _Thread_local bool is_set;
    if (is_set && at == 0)
        timer_delete(timer);
    else if (!is_set && at > 0)
        timer = make_timer();
    is_set = at > 0;
    if (at == 0)
        return;
    uint64_t now = now_ns(), left = at > now ? at - now : 1;
    struct itimerspec times = {
        .it_interval.tv_nsec = INTERRUPT_AGAIN,
        .it_value = {(time_t)(left / NANOSECONDS), (long)(left % NANOSECONDS)},
    };
    timer_settime(timer, 0, &times, NULL);
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
