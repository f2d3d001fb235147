/* Sending in one direction of a connection, as fast as it takes it. */
#include "flow.h"
#include "tcp.h"

#include "../lib/memory.h"
#include "../lib/parameters.h"

#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>

static size_t chunk_of(const struct launch *launch)
{
    size_t message = size_of(launch, "message"), chunk = size_of(launch, "write");
    return chunk == 0 || chunk > message ? message : chunk;
}

void prepare_senders(struct sending *senders, const struct launch *launch, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        senders[i].launch = launch;
        if (senders[i].data == NULL)
            senders[i].data = test_buffer(chunk_of(launch));
    }
}

/* Strong scaling shares the messages, so that the first ones have one more where they don't
 * divide; weak scaling gives as many to each. */
static uint64_t share_of(const struct launch *launch, uint64_t total, size_t index, size_t count)
{
    if (strcmp(text_of(launch, "scaling"), "weak") == 0)
        return total;
    return total / count + (index < total % count);
}

void set_senders(struct sending *senders, const int fds[], int control, const struct trial *trial,
                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        senders[i].fd = fds[i];
        senders[i].control = control;
        senders[i].by_count = trial->count > 0;
        senders[i].share = share_of(senders[i].launch, trial->count, i, count);
        senders[i].duration = seconds_ns(trial->duration);
        senders[i].bytes = senders[i].messages = 0;
    }
}

void send_flow(void *share)
{
    struct sending *s = share;
    size_t message = size_of(s->launch, "message"), chunk = chunk_of(s->launch);
    size_t left = message; /* of the message under way */
    uint64_t now = now_ns(), progress = now, stop = now + s->duration;
    while (s->by_count ? s->messages < s->share : now < stop) {
        ssize_t step = send(s->fd, s->data, chunk < left ? chunk : left, MSG_NOSIGNAL);
        now = now_ns();
        if (step <= 0) {
            stalled(s->control, errno, progress, "send");
            continue;
        }
        progress = now;
        s->bytes += (uint64_t)step;
        left -= (size_t)step;
        if (left == 0) {
            s->messages++;
            left = message;
        }
    }
    shutdown(s->fd, SHUT_WR);
}

/* Over a slow link a full socket buffer takes its time, and only standing still is a failure. */
static void wait_for_last_byte(const struct sending *s)
{
    uint64_t since = now_ns();
    int left = 0, before = INT_MAX;
    while (ioctl(s->fd, SIOCOUTQ, &left) == 0 && left > 0) {
        if (left < before)
            since = now_ns();
        before = left;
        stalled(s->control, EAGAIN, since, "send");
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
}

void wait_until_sent(const struct sending *senders, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wait_for_last_byte(&senders[i]);
}

uint64_t sent_bytes(const struct sending *senders, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += senders[i].bytes;
    return bytes;
}

uint64_t sent_messages(const struct sending *senders, size_t count)
{
    uint64_t messages = 0;
    for (size_t i = 0; i < count; i++)
        messages += senders[i].messages;
    return messages;
}
