#include "team.h"

#include "failure.h"
#include "parameters.h"
#include "place.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define INTERRUPT_EVERY 200000 /* ns */

struct member {
    struct team *team;
    struct task task;
    pthread_t thread;
    struct usage usage;
};

struct team {
    const struct launch *launch;
    bool server;
    size_t count;
    pthread_barrier_t ready;
    struct member members[];
};

static void *work(void *argument)
{
    struct member *member = argument;
    place_thread(member->team->launch, member->team->server, member->task.number);
    pthread_barrier_wait(&member->team->ready);
    usage_begin(&member->usage);
    member->task.work(member->task.share);
    usage_end(&member->usage);
    return NULL;
}

uint64_t share_of_count(const struct launch *launch, const struct trial *trial, size_t thread)
{
    size_t threads = size_of(launch, "threads");
    if (strcmp(text_of(launch, "scaling"), "weak") == 0)
        return trial->count;
    return trial->count / threads + (thread < trial->count % threads);
}

struct team *team_start(const struct launch *launch, bool server, const struct task *tasks,
                        size_t count)
{
    struct team *team = calloc(1, sizeof *team + count * sizeof *team->members);
    if (team == NULL)
        fail(OUT_OF_MEMORY, "no memory for %zu threads", count);
    team->launch = launch;
    team->server = server;
    team->count = count;
    pthread_barrier_init(&team->ready, NULL, (unsigned int)count);
    /* Signals are for the main thread. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (size_t i = 0; i < count; i++) {
        team->members[i].team = team;
        team->members[i].task = tasks[i];
        int error = pthread_create(&team->members[i].thread, NULL, work, &team->members[i]);
        if (error)
            fail(SYSTEM_ERROR, "cannot start thread %zu of %zu: %s", i + 1, count,
                 strerror(error));
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return team;
}

/* Again and again: the signal may come just before the call that it is to end. */
static void join_interrupted(pthread_t thread)
{
    while (pthread_tryjoin_np(thread, NULL) == EBUSY) {
        interrupt_thread(thread);
        nanosleep(&(struct timespec){.tv_nsec = INTERRUPT_EVERY}, NULL);
    }
}

static struct usage join_all(struct team *team, bool interrupt)
{
    struct usage total = {0};
    for (size_t i = 0; i < team->count; i++) {
        const struct usage *usage = &team->members[i].usage;
        if (interrupt)
            join_interrupted(team->members[i].thread);
        else
            pthread_join(team->members[i].thread, NULL);
        total.user += usage->user;
        total.system += usage->system;
        total.ran += usage->ran;
        if (usage->elapsed > total.elapsed)
            total.elapsed = usage->elapsed;
    }
    pthread_barrier_destroy(&team->ready);
    free(team);
    return total;
}

struct usage team_join(struct team *team)
{
    return join_all(team, false);
}

struct usage team_interrupt(struct team *team)
{
    return join_all(team, true);
}

void team_prepare(const struct launch *launch, bool server, const struct task *tasks,
                  size_t count)
{
    team_join(team_start(launch, server, tasks, count));
}

struct usage team_run(const struct launch *launch, bool server, const struct task *tasks,
                      size_t count)
{
    if (count > 1)
        return team_join(team_start(launch, server, tasks, count));
    struct usage usage;
    usage_begin(&usage);
    tasks->work(tasks->share);
    usage_end(&usage);
    return usage;
}
