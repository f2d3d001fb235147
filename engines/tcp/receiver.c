/* Receiving in one direction of a connection, to its end. */
#include "flow.h"
#include "tcp.h"

#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"

#include <errno.h>

#define DRAIN_SECONDS 600.0 /* beyond its duration, for what lies in the sender's buffer */
#define STREAM_READ 131072 /* the receiver asks for so much unless told */

static size_t chunk_of(const struct launch *launch)
{
    size_t asked = size_of(launch, "read");
    return asked ? asked : STREAM_READ;
}

void prepare_receivers(struct receiving *receivers, const struct launch *launch, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        receivers[i].launch = launch;
        if (receivers[i].data == NULL)
            receivers[i].data = test_buffer(chunk_of(launch));
    }
}

void set_receivers(struct receiving *receivers, const int fds[], int control,
                   const struct trial *trial, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        receivers[i].fd = fds[i];
        receivers[i].control = control;
        receivers[i].limit = trial_limit(trial, DRAIN_SECONDS);
        receivers[i].bytes = receivers[i].first = 0;
        receivers[i].first_at = receivers[i].last_at = 0;
    }
}

void receive_flow(void *share)
{
    struct receiving *r = share;
    size_t chunk = chunk_of(r->launch);
    uint64_t progress = now_ns();
    for (;;) {
        ssize_t step = recv(r->fd, r->data, chunk, 0);
        uint64_t now = now_ns();
        if (step == 0)
            break;
        if (now > r->limit)
            fail(NO_ANSWER, "the other end did not end in time");
        if (step < 0) {
            stalled(r->control, errno, progress, "receive");
            continue;
        }
        if (r->first_at == 0) {
            r->first_at = now;
            r->first = (uint64_t)step;
        }
        r->last_at = progress = now;
        r->bytes += (uint64_t)step;
    }
}

struct received sum_received(const struct receiving *receivers, size_t count)
{
    struct received sum = {0};
    uint64_t first_at = UINT64_MAX, last_at = 0;
    for (size_t i = 0; i < count; i++) {
        const struct receiving *r = &receivers[i];
        if (r->bytes == 0)
            continue;
        sum.bytes += r->bytes;
        sum.timed += r->bytes - r->first;
        first_at = r->first_at < first_at ? r->first_at : first_at;
        last_at = r->last_at > last_at ? r->last_at : last_at;
    }
    sum.elapsed = last_at ? ns_seconds(last_at - first_at) : 0;
    return sum;
}
