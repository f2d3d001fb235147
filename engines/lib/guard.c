#include "guard.h"

#include "clock.h"
#include "confine.h"
#include "failure.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET_WAIT_MS 30000

#define IDLE_NS 10000000 /* that the end of the input waits for who reads it */

static const struct launch *launch;
static _Atomic uint64_t deadline;
static bool watch_input;
/* In a process of many launches: between two of them. */
static atomic_bool idle;
static bool has_many;
static void (*clean_up)(void);

static void take_secret_line(struct launch *started)
{
    size_t length = 0;
    for (;;) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        char c;
        if (poll(&input, 1, SECRET_WAIT_MS) == 0)
            fail(BAD_SECRET, "no secret came on standard input within %d s",
                 SECRET_WAIT_MS / 1000);
        ssize_t received = read(STDIN_FILENO, &c, 1);
        if (received < 0 && errno == EINTR)
            continue;
        if (received <= 0)
            fail(BAD_SECRET, "standard input ended before a line with the secret");
        if (c == '\n')
            return;
        if (length >= SECRET_LIMIT - 1)
            fail(BAD_SECRET, "the secret is longer than %d characters", SECRET_LIMIT - 1);
        started->secret[length++] = c;
    }
}

void read_secret(struct launch *started)
{
    const char *from_environment = getenv("RAILGAUGE_SECRET");
    if (started->secret_from_stdin)
        take_secret_line(started);
    else if (from_environment && strlen(from_environment) >= SECRET_LIMIT)
        fail(BAD_SECRET, "RAILGAUGE_SECRET is longer than %d characters", SECRET_LIMIT - 1);
    else if (from_environment)
        strcpy(started->secret, from_environment);
    unsetenv("RAILGAUGE_SECRET"); /* no child of ours needs it */
    for (const char *c = started->secret; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            fail(BAD_SECRET, "the secret has a control character: use printable ones");
}

void guard_cleanup(void (*cleanup)(void))
{
    clean_up = cleanup;
}

static void end_process(int status)
{
    if (clean_up)
        clean_up();
    _exit(status);
}

/* Whether it did, where poll says that something is up. */
static bool input_ended(void)
{
    char scrap[512];
    while (has_many && atomic_load(&idle)) /* then who waits for the next launch ends the process */
        nanosleep(&(struct timespec){.tv_nsec = IDLE_NS}, NULL);
    if (has_many)
        return true;
    ssize_t length = read(STDIN_FILENO, scrap, sizeof scrap);
    return length == 0 || (length < 0 && errno != EINTR && errno != EAGAIN);
}

/* A server forks. A thread that is only just starting may hold a lock of the allocator then, which
 * stays locked in the child: AddressSanitizer's did. */
static sem_t watching;

static void *watch(void *unused)
{
    (void)unused;
    /* A server among strangers: its own thread cannot do it for this one. */
    if (!has_many && launch->server && launch->engine && launch->engine->port)
        confine();
    sem_post(&watching);
    for (;;) {
        uint64_t now = now_ns();
        uint64_t limit = atomic_load(&deadline);
        if (now >= limit) {
            if (clean_up)
                clean_up();
            fail(DEADLINE, "the deadline of %g s passed before the work was done",
                 launch->deadline);
        }
        /* An hour at most, since poll counts by another clock than ours. */
        uint64_t left_ms = (limit - now) / 1000000 + 1;
        struct pollfd input = {.fd = watch_input ? STDIN_FILENO : -1,
                               .events = has_many ? POLLRDHUP : POLLIN};
        int ready = poll(&input, 1, left_ms < 3600000 ? (int)left_ms : 3600000);
        if (ready > 0 && input_ended())
            end_process(!has_many && launch->server ? 0 : 1);
    }
    return NULL;
}

static void *watch_deadline(void *unused)
{
    (void)unused;
    for (;;) {
        uint64_t now = now_ns();
        if (now >= deadline)
            fail(DEADLINE, "the deadline of %g s passed before the work was done",
                 launch->deadline);
        uint64_t left = deadline - now;
        nanosleep(&(struct timespec){.tv_sec = (time_t)(left / NANOSECONDS), .tv_nsec = 1000000},
                  NULL);
    }
    return NULL;
}

void guard_real_time(void)
{
    static atomic_flag started = ATOMIC_FLAG_INIT;
    const struct sched_param priority = {.sched_priority = 2};
    pthread_attr_t attributes;
    pthread_t thread;
    if (atomic_flag_test_and_set(&started))
        return;
    pthread_attr_init(&attributes);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &priority);
    if (pthread_create(&thread, &attributes, watch_deadline, NULL) == 0)
        pthread_detach(thread);
    pthread_attr_destroy(&attributes);
}

/* Starts the thread, which has begun when this returns. */
static void start_watching(void)
{
    pthread_t thread;
    signal(SIGPIPE, SIG_IGN);
    /* Signals are for the main thread. */
    sigset_t all, before;
    sigfillset(&all);
    sem_init(&watching, 0, 0);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = pthread_create(&thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        fail(SYSTEM_ERROR, "cannot start the guarding thread: %s", strerror(error));
    pthread_detach(thread);
    while (sem_wait(&watching) != 0 && errno == EINTR)
        ;
}

static bool input_may_end(void)
{
    struct stat input;
    return fstat(STDIN_FILENO, &input) == 0 &&
           (S_ISFIFO(input.st_mode) || S_ISSOCK(input.st_mode));
}

void guard_start(const struct launch *started)
{
    launch = started;
    atomic_store(&deadline, now_ns() + seconds_ns(started->deadline));
    watch_input = started->watch_input && input_may_end();
    start_watching();
}

void guard_launches(void)
{
    has_many = true;
    watch_input = input_may_end();
    guard_next(NULL);
    start_watching();
}

void guard_renew(void)
{
    if (!launch->deadline_given)
        atomic_store(&deadline, now_ns() + seconds_ns(launch->deadline));
}

void guard_next(const struct launch *next)
{
    /* The thread looks at the deadline each hour at least. */
    if (next && next->deadline_given)
        fail(BAD_PARAMETER, "one of many launches in a process has no --deadline of its own");
    launch = next;
    atomic_store(&deadline, next ? now_ns() + seconds_ns(next->deadline) : UINT64_MAX);
    atomic_store(&idle, next == NULL);
}
