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
        receivers[i].next = 0;
        receivers[i].omitted_usage = (struct usage){0};
        receivers[i].fd = fds[i];
        receivers[i].control = control;
        receivers[i].limit = trial_limit(trial, trial->count ? GRACE_SECONDS : DRAIN_SECONDS);
        receivers[i].bytes = receivers[i].last_at = 0;
        memset(receivers[i].parts, 0, sizeof receivers[i].parts);
        intervals_prepare(&receivers[i].intervals, receivers[i].launch, trial, &quantity, 1);
    }
}

/* What has come and is yet to be read. */
static uint64_t lying_at(int fd)
{
    int bytes;
    return ioctl(fd, FIONREAD, &bytes) == 0 ? (uint64_t)bytes : 0;
}

/* The time of all begins with the first read, whose bytes came at an unknown time before it: they
 * are not timed, nor is what lies there, of a receiver that got its CPU late at first. */
static uint64_t begin_first(struct part *part, int fd, size_t size)
{
    part->first = size;
    part->lying = lying_at(fd);
    part->first_at = part->began = now_ns();
    return part->first_at;
}

static void end_part(struct receiver *r, struct part *part, uint64_t before)
{
    part->bytes = r->bytes - before;
    part->last_at = r->last_at;
}

/* After an omitted part much may lie there of a receiver that is never done with what comes, too.
 * Then the time begins with the read before: one that had no CPU since reads in it what came in it,
 * and the other one as much as ever. */
static uint64_t begin_after_omitted(struct receiver *r, size_t size)
{
    struct part *part = &r->parts[COUNTED];
    uint64_t now = begin_first(part, r->fd, size);
    usage_end(&r->omitted_usage);
    end_part(r, &r->parts[OMITTED], 0);
    if (r->bytes > 0 && part->lying >= size)
        *part = (struct part){.first_at = now, .began = r->last_at};
    part->lying = 0;
    return now;
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
    if (r->parts[COUNTED].first_at)
        return now;
    if (r->omit == 0)
        return begin_first(&r->parts[COUNTED], r->fd, size);
    uint64_t counts_from = origin + r->omit;
    if (now >= counts_from)
        return begin_after_omitted(r, size);
    r->next = counts_from < r->next ? counts_from : r->next;
    return r->bytes > 0 ? now : begin_first(&r->parts[OMITTED], r->fd, size);
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
    bool counts = r->parts[COUNTED].first_at > 0;
    end_part(r, &r->parts[counts ? COUNTED : OMITTED], counts ? r->parts[OMITTED].bytes : 0);
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
static uint64_t untimed_bytes(const struct part *part, const struct part *first)
{
    uint64_t own = part->first + part->lying, most = first->first + first->lying;
    most = most < part->bytes ? most : part->bytes; /* an omitted part may end before that is read */
    return own < most ? own : most;
}

static struct reception sum_parts(const struct receiver *receivers, size_t count, int which)
{
    struct reception sum = {0};
    const struct part *first = NULL;
    uint64_t last_at = 0;
    for (size_t i = 0; i < count; i++) {
        const struct part *part = &receivers[i].parts[which];
        sum.bytes += part->bytes;
        if (part->first_at && (first == NULL || part->first_at < first->first_at))
            first = part;
        last_at = part->last_at > last_at ? part->last_at : last_at;
    }
    if (first == NULL)
        return sum;
    sum.timed = sum.bytes;
    for (size_t i = 0; i < count; i++)
        sum.timed -= untimed_bytes(&receivers[i].parts[which], first);
    sum.elapsed = ns_seconds(last_at - first->began);
    return sum;
}

struct reception sum_received(const struct receiver *receivers, size_t count, struct usage *usage)
{
    struct reception sum = sum_parts(receivers, count, COUNTED);
    struct reception omitted = sum_parts(receivers, count, OMITTED);
    sum.omitted.bytes = (double)omitted.bytes;
    sum.omitted.timed = (double)omitted.timed;
    sum.omitted.elapsed = omitted.elapsed;
    for (size_t i = 0; i < count; i++)
        if (receivers[i].parts[COUNTED].first_at)
            omit_usage(usage, &sum.omitted, &receivers[i].omitted_usage);
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
