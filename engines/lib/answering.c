#include "answering.h"

#include "failure.h"
#include "place.h"
#include "team.h"

static struct answerer works[MAX_THREADS];
static struct team *team;
static size_t answerers;
static atomic_bool over;

void answering_start(struct session *session, const struct trial *trial,
                     void (*work)(void *answerer), const int fds[], size_t sockets, size_t count)
{
    struct task tasks[MAX_THREADS];
    atomic_store(&over, false);
    for (size_t i = 0; i < count; i++) {
        works[i] = (struct answerer){session, trial, i, fds[i % sockets], 0, &over};
        tasks[i] = (struct task){work, &works[i], (int)i};
    }
    allow_interrupts();
    place_above(&session->launch);
    answerers = count;
    team = team_start(&session->launch, true, tasks, count);
}

static uint64_t answered_so_far(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < answerers; i++)
        sum += atomic_load_explicit(&works[i].answered, memory_order_relaxed);
    return sum;
}

static void wait_for_end(struct session *session, const struct trial *trial)
{
    uint64_t limit = trial_limit(trial, GRACE_SECONDS), before = 0, now = now_ns(), since = now;
    while (!session_end_arrived(session)) {
        wait_readable(session->control, now + NANOSECONDS);
        now = now_ns();
        uint64_t answered = answered_so_far();
        if (answered != before)
            since = now;
        before = answered;
        if (now > limit || now - since > seconds_ns(GRACE_SECONDS))
            fail(NO_ANSWER, "the client did not end in time");
    }
}

uint64_t answering_finish(struct session *session, const struct trial *trial,
                          struct fields *reply)
{
    wait_for_end(session, trial);
    atomic_store(&over, true);
    struct usage usage = team_interrupt(team);
    add_usage(reply, &usage);
    return answered_so_far();
}
