/* Receiving in one direction of a connection, to its end. */
#include "flow.h"
#include "tcp.h"

#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"
#include "../lib/team.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DRAIN_SECONDS 600.0 /* beyond its duration, for what lies in the sender's buffer */
#define LEAST_READ 131072   /* the receiver asks for a message at a time, but for no less ... */
#define MOST_READ (1 << 20) /* and no more, by default */

static const enum quantity quantity = RECEIVED_BYTES; /* of intervals */

static ssize_t take_recv(struct receiver *r)
{
    return recv(r->fd, r->data, r->chunk, 0);
}

static ssize_t take_read(struct receiver *r)
{
    return read(r->fd, r->data, r->chunk);
}

/* The kernel drops it without copying. */
static ssize_t take_truncate(struct receiver *r)
{
    return recv(r->fd, r->data, r->chunk, MSG_TRUNC);
}

static ssize_t take_splice(struct receiver *r)
{
    ssize_t received = splice(r->fd, NULL, r->pipe[1], NULL, r->chunk, SPLICE_F_MOVE);
    for (ssize_t left = received; left > 0;) {
        ssize_t step = splice(r->pipe[0], NULL, r->sink, NULL, (size_t)left, SPLICE_F_MOVE);
        if (step <= 0 && errno != EINTR)
            fail(SYSTEM_ERROR, "cannot splice into /dev/null: %s", strerror(errno));
        left -= step > 0 ? step : 0;
    }
    return received;
}

static size_t chunk_of(const struct launch *launch)
{
    size_t requested = size_of(launch, "read"), message = size_of(launch, "message");
    if (requested > 0)
        return requested;
    return message < LEAST_READ ? LEAST_READ : message > MOST_READ ? MOST_READ : message;
}

static void prepare_receiver(void *share)
{
    struct receiver *r = share;
    const struct launch *launch = r->launch;
    const struct {
        const char *name;
        ssize_t (*take)(struct receiver *);
    } ways[] = {{"recv", take_recv},
                {"read", take_read},
                {"truncate", take_truncate},
                {"splice", take_splice}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(text_of(launch, "receive"), ways[i].name) == 0)
            r->take = ways[i].take;
    r->chunk = chunk_of(launch);
    if (r->data == NULL) /* a size for each process: no series runs over it */
        r->data = test_buffer(r->chunk);
    if (r->take == take_splice && r->sink == 0) {
        make_pipe(r->pipe);
        r->sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (r->sink < 0)
            fail(SYSTEM_ERROR, "cannot open /dev/null: %s", strerror(errno));
    }
}

void prepare_receivers(struct receiver *receivers, const struct launch *launch, bool server,
                       size_t first, size_t count)
{
    struct task tasks[MAX_THREADS];
    must_fit(count, chunk_of(launch));
    for (size_t i = 0; i < count; i++) {
        receivers[i].launch = launch;
        tasks[i] = (struct task){prepare_receiver, &receivers[i], (int)(first + i)};
    }
    team_prepare(launch, server, tasks, count);
}

void set_receivers(struct receiver *receivers, const int fds[], int control,
                   const struct trial *trial, size_t count)
{
    static atomic_uint_fast64_t origin; /* of the one group that a process has */
    atomic_store(&origin, 0);
    for (size_t i = 0; i < count; i++) {
        receivers[i].origin = &origin;
        receivers[i].omit = seconds_ns(trial->omit);
        receivers[i].next = receivers[i].omitted = 0;
        receivers[i].omitted_usage = (struct usage){0};
        receivers[i].fd = fds[i];
        receivers[i].control = control;
        receivers[i].limit = trial_limit(trial, trial->count ? GRACE_SECONDS : DRAIN_SECONDS);
        receivers[i].bytes = receivers[i].first = receivers[i].lying = 0;
        receivers[i].first_at = receivers[i].last_at = receivers[i].began = 0;
        intervals_prepare(&receivers[i].intervals, receivers[i].launch, trial, &quantity, 1);
    }
}

/* What has come and is yet to be read. */
static uint64_t lying_at(int fd)
{
    int bytes;
    return ioctl(fd, FIONREAD, &bytes) == 0 ? (uint64_t)bytes : 0;
}

/* The time begins with the first read that counts, whose bytes came at an unknown time before it:
 * they are not timed, nor is what lies there, of a receiver that got its CPU late at first. After
 * an omitted part much may lie there of one that is never done with what comes, too. Then the time
 * begins with the read before: a receiver that had no CPU since reads in it what came in it, and
 * the other one as much as ever. Returns now. */
static uint64_t begin_time(struct receiver *r, size_t size)
{
    uint64_t lying = lying_at(r->fd);
    r->first_at = r->began = now_ns();
    if (r->omit > 0)
        usage_end(&r->omitted_usage);
    r->omitted = r->bytes;
    if (r->omitted > 0 && lying >= size) {
        r->began = r->last_at;
    } else {
        r->first = size;
        r->lying = r->omit > 0 ? 0 : lying;
    }
    return r->first_at;
}

/* Looks at a read that has just ended, before it is counted; returns now. */
static uint64_t look_at_read(struct receiver *r, uint64_t now, size_t size)
{
    uint64_t origin = 0;
    if (atomic_compare_exchange_strong(r->origin, &origin, now))
        origin = now;
    if (r->next == 0)
        intervals_begin(&r->intervals, origin);
    intervals_close(&r->intervals, now, &r->bytes);
    r->next = r->intervals.next;
    if (r->first_at)
        return now;
    uint64_t counts_from = r->omit > 0 ? origin + r->omit : now;
    if (now < counts_from) {
        r->next = counts_from < r->next ? counts_from : r->next;
        return now;
    }
    return begin_time(r, size);
}

void receive_flow(void *share)
{
    struct receiver *r = share;
    if (r->omit > 0)
        usage_begin(&r->omitted_usage);
    uint64_t progress = now_ns();
    for (;;) {
        ssize_t step = r->take(r);
        int error = errno;
        uint64_t now = now_ns();
        if (step == 0)
            break;
        if (now > r->limit)
            fail(NO_ANSWER, "the other end did not end in time");
        if (step < 0) {
            if (error != EAGAIN || !wait_ready(r->fd, POLLIN))
                handle_stall(r->control, error, progress, "receive");
            continue;
        }
        if (now >= r->next)
            now = look_at_read(r, now, (size_t)step);
        r->last_at = progress = now;
        r->bytes += (uint64_t)step;
    }
}

struct intervals *received_intervals(const struct launch *launch, const struct trial *trial,
                                     struct receiver *receivers, size_t count)
{
    static struct intervals sum;
    intervals_prepare(&sum, launch, trial, &quantity, 1);
    for (size_t i = 0; i < count; i++) {
        struct receiver *r = &receivers[i];
        r->intervals.origin = atomic_load(r->origin);
        intervals_finish(&r->intervals, r->last_at, &r->bytes);
        intervals_add(&sum, &r->intervals);
    }
    return &sum;
}

/* Of another connection, which was looked at later, as much may have come before time began as had
 * come of the first one. */
static uint64_t untimed_bytes(const struct receiver *r, const struct receiver *first)
{
    uint64_t own = r->first + r->lying, most = first->first + first->lying;
    return own < most ? own : most;
}

struct reception sum_received(const struct receiver *receivers, size_t count, struct usage *usage)
{
    struct reception sum = {0};
    const struct receiver *first = NULL;
    uint64_t last_at = 0;
    for (size_t i = 0; i < count; i++) {
        const struct receiver *r = &receivers[i];
        if (r->first_at == 0) { /* nothing that counts has come */
            sum.omitted.bytes += (double)r->bytes;
            continue;
        }
        sum.omitted.bytes += (double)r->omitted;
        omit_usage(usage, &sum.omitted, &r->omitted_usage);
        sum.bytes += r->bytes - r->omitted;
        if (first == NULL || r->first_at < first->first_at)
            first = r;
        last_at = r->last_at > last_at ? r->last_at : last_at;
    }
    if (first == NULL)
        return sum;
    sum.timed = sum.bytes;
    for (size_t i = 0; i < count; i++)
        sum.timed -= untimed_bytes(&receivers[i], first);
    if (receivers->omit > 0)
        sum.omitted.elapsed = ns_seconds(first->first_at - atomic_load(receivers->origin));
    sum.elapsed = ns_seconds(last_at - first->began);
    return sum;
}

void add_received(struct fields *fields, const struct reception *sum)
{
    fields_add_number(fields, "received", (double)sum->bytes);
    fields_add_number(fields, "timed", (double)sum->timed);
}

double rate_of(const struct result *result, const struct reception *sum, double sent)
{
    double arrived = (double)sum->bytes + sum->omitted.bytes;
    bool has_rate = sum->elapsed >= LEAST_SECONDS && sum->timed > 0;
    if (arrived != sent)
        fail(SHORT_COUNT, "sent %.0f bytes, %.0f arrived", sent, arrived);
    if (!has_rate && !result->warmup)
        fail(TOO_SHORT, "all %.0f bytes that count were there when the first read ended, and have "
             "no rate: send more", (double)sum->bytes);
    return has_rate ? (double)sum->timed * 8 / sum->elapsed : NAN;
}
