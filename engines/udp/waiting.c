#include "waiting.h"

#include "udp.h"

#include "../lib/clock.h"
#include "../lib/parameters.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define LOOKS 20        /* for more, before it sleeps: some 5 us */
#define SLEEPS_BLIND 64 /* without a look before, until looking is tried again */

void waiting_prepare(struct waiting *waiting, const struct launch *launch, int fd,
                     struct mmsghdr *messages)
{
    const char *receive = text_of(launch, "receive");
    *waiting = (struct waiting){.fd = fd, .messages = messages};
    /* The kernel then says how long a datagram was, not how much of it was copied. */
    waiting->flags = number_of(launch, "truncate") != 0 ? MSG_TRUNC : 0;
    waiting->nonblocking = int_of(launch, "blocking") == 0;
    waiting->polls = strcmp(receive, "poll") == 0;
    /* From a real-time thread that never sleeps, Linux takes the CPU 50 ms of every second. */
    waiting->adapts = strcmp(receive, "adaptive") == 0 &&
                      strcmp(text_of(launch, "scheduler"), "other") == 0;
    waiting->looks = waiting->adapts ? LOOKS : 0;
}

int receive_now(struct waiting *waiting, unsigned int count)
{
    return recvmmsg(waiting->fd, waiting->messages, count, waiting->flags | MSG_DONTWAIT, NULL);
}

/* Looks for datagrams without sleeping: as often as that paid lately, or for WAIT_MS (poll). */
static int look_for_data(struct waiting *waiting, unsigned int count)
{
    uint64_t began = 0, before = 0;
    for (int look = 0; look < waiting->looks || waiting->polls; look++) {
        int received = receive_now(waiting, count);
        if (received >= 0 || errno != EAGAIN)
            return received;
        uint64_t now = now_ns();
        began = began ? began : now;
        waiting->polled += before ? spinning_ns(before, now) : 0;
        if (waiting->polls && now - began > WAIT_MS * 1000000ull)
            break;
        before = now;
    }
    errno = EAGAIN;
    return -1;
}

/* To wake this thread up would cost a sender on the same host, which a stream comes from at an
 * interval of microseconds, a tenth of its time: so it looks a few times before it sleeps. Where
 * that is in vain, as the stream is slower, it soon hardly does: it would be most of the CPU. */
int receive_soon(struct waiting *waiting, unsigned int count)
{
    int received = look_for_data(waiting, count);
    if (waiting->polls || received >= 0 || errno != EAGAIN) {
        waiting->looks = waiting->adapts ? LOOKS : 0;
        return received;
    }
    waiting->looks /= 2;
    if (waiting->adapts && waiting->looks == 0 && ++waiting->sleeps % SLEEPS_BLIND == 0)
        waiting->looks = LOOKS;
    if (waiting->nonblocking)
        poll(&(struct pollfd){.fd = waiting->fd, .events = POLLIN}, 1, WAIT_MS);
    return recvmmsg(waiting->fd, waiting->messages, count, waiting->flags | MSG_WAITFORONE, NULL);
}
