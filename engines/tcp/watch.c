/* A look is one getsockopt, for which the kernel holds up the connection for about a microsecond:
 * 50 a second neither slow a sender down nor show in its CPU time, which is its own thread's. */
#include "watch.h"

#include "../lib/failure.h"
#include "../lib/place.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define INTERVAL_MS 20

static void *work(void *argument)
{
    const struct watch *watch = argument;
    struct pollfd stop = {.fd = watch->stop, .events = POLLIN};
    place_above(watch->launch);
    while (poll(&stop, 1, INTERVAL_MS) == 0)
        for (size_t i = 0; i < watch->count; i++)
            look_at(watch->senders[i].outlet.fd, &watch->senders[i].looks);
    return NULL;
}

void watch_begin(struct watch *watch, const struct launch *launch, struct sending *senders,
                 size_t count)
{
    *watch = (struct watch){launch, senders, count, eventfd(0, EFD_CLOEXEC), 0};
    if (watch->stop < 0)
        fail(SYSTEM_ERROR, "cannot make an eventfd: %s", strerror(errno));
    /* Signals are for the main thread. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = pthread_create(&watch->thread, NULL, work, watch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        fail(SYSTEM_ERROR, "cannot start the thread that watches: %s", strerror(error));
}

void watch_end(struct watch *watch)
{
    eventfd_write(watch->stop, 1);
    pthread_join(watch->thread, NULL);
    close(watch->stop);
}
