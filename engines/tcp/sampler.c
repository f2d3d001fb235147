/* A sample is one getsockopt, which takes a microsecond or two but has to lock the connection. From
 * another thread that means to fight for the lock with a busy sender and to slow it down by
 * percents. So a sender samples its own between two calls, and this thread only while it is held
 * up in one: there it sleeps and has left the lock to others. */
#include "sampler.h"

#include "../lib/failure.h"
#include "../lib/place.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MILLISECOND 1000000

/* It may come back just now from a call or from another task's turn on its CPU. */
static bool is_blocked(const struct sender *sender)
{
    return atomic_load(&sender->counts) &&
           now_ns() - atomic_load(&sender->sampled_at) > SAMPLE_INTERVAL * 3 / 2;
}

static void *work(void *argument)
{
    const struct sampler *sampler = argument;
    struct pollfd stop = {.fd = sampler->stop, .events = POLLIN};
    place_above(sampler->launch);
    while (poll(&stop, 1, SAMPLE_INTERVAL / MILLISECOND) == 0)
        for (size_t i = 0; i < sampler->count; i++)
            if (is_blocked(&sampler->senders[i]))
                sample_connection(sampler->senders[i].writer.fd, true,
                                  &sampler->senders[i].sampler_samples);
    return NULL;
}

void sampler_start(struct sampler *sampler, const struct launch *launch, struct sender *senders,
                   size_t count)
{
    *sampler = (struct sampler){launch, senders, count, eventfd(0, EFD_CLOEXEC), 0};
    if (sampler->stop < 0)
        fail(SYSTEM_ERROR, "cannot make an eventfd: %s", strerror(errno));
    /* Signals are for the main thread. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = pthread_create(&sampler->thread, NULL, work, sampler);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        fail(SYSTEM_ERROR, "cannot start the thread that watches: %s", strerror(error));
}

void sampler_stop(struct sampler *sampler)
{
    eventfd_write(sampler->stop, 1);
    pthread_join(sampler->thread, NULL);
    close(sampler->stop);
}
