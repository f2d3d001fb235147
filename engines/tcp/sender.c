/* Sending in one direction of a connection, as fast as it takes it or at a rate. */
#include "flow.h"
#include "tcp.h"

#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/pace.h"
#include "../lib/parameters.h"
#include "../lib/team.h"

#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#define PACED_NS 1e6      /* a paced call's data by default, as time at its rate ... */
#define PACED_LEAST 1460. /* and its bytes, at the least */
#define LONGEST_WAIT 10.  /* s, between two calls */
#define FILE_CHUNK 131072 /* files are read in such pieces by default */

enum { COLUMNS = 4 };
static const enum quantity quantities[COLUMNS] = {SENT_BYTES, RETRANSMITS, CONGESTION_WINDOW,
                                                  ROUND_TRIP};

/* The kernel takes files itself, except by these. */
static bool through_memory(const struct launch *launch, const struct source *source)
{
    return source->items == NULL || strcmp(text_of(launch, "send"), "send") == 0 ||
           strcmp(text_of(launch, "send"), "write") == 0;
}

/* Time of a byte of one connection, in ns; 0: nobody asked for a rate. */
static double byte_time(const struct launch *launch)
{
    double rate = number_of(launch, "rate") / number_of(launch, "threads");
    return rate > 0 ? 8e9 / rate : 0;
}

/* What one call of a paced connection is given by default: often enough for an even flow, and that
 * the first one, after which the receiver's time begins, is a small part of it. */
static size_t paced_chunk(size_t chunk, const struct launch *launch)
{
    double bytes = byte_time(launch) > 0 ? PACED_NS / byte_time(launch) : (double)chunk;
    double least = bytes > PACED_LEAST ? bytes : PACED_LEAST;
    return (double)chunk > least ? (size_t)least : chunk;
}

/* What one call is given at most. */
static size_t chunk_of(const struct launch *launch, const struct source *source)
{
    size_t chunk = size_of(launch, "write"), message = size_of(launch, "message");
    if (source->items) {
        size_t most = through_memory(launch, source) ? FILE_CHUNK : SSIZE_MAX;
        return chunk ? chunk : paced_chunk(most, launch);
    }
    return chunk == 0 ? paced_chunk(message, launch) : chunk > message ? message : chunk;
}

void check_rate(const struct launch *launch)
{
    double chunk = (double)chunk_of(launch, opened_source());
    double seconds = chunk * byte_time(launch) / 1e9;
    if (seconds > LONGEST_WAIT)
        fail(BAD_PARAMETER, "rate: a call with %g bytes lasts %.3g s at it, and after %g s without "
             "data a connection is taken for dead: ask for more, or give less to a call (write)",
             chunk, seconds, LONGEST_WAIT);
}

static void prepare_sender(void *share)
{
    struct sender *s = share;
    writer_prepare(&s->writer, s->launch, s->source->items != NULL, s->chunk);
}

void prepare_senders(struct sender *senders, const struct launch *launch, bool server,
                     size_t count)
{
    struct task tasks[MAX_THREADS];
    const struct source *source = opened_source();
    if (through_memory(launch, source))
        must_fit(count, chunk_of(launch, source));
    for (size_t i = 0; i < count; i++) {
        struct sender *s = &senders[i];
        s->launch = launch;
        s->source = source;
        s->message = size_of(launch, "message");
        s->chunk = chunk_of(launch, source);
        s->cork = int_of(launch, "cork") != 0;
        s->byte_ns = byte_time(launch);
        s->late_ns = s->byte_ns * (double)s->chunk * (double)i / (double)count;
        s->connections = count;
        tasks[i] = (struct task){prepare_sender, s, (int)i};
    }
    team_prepare(launch, server, tasks, count);
}

void set_senders(struct sender *senders, const struct launch *launch, const int fds[],
                 int control, const struct trial *trial, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        writer_begin(&senders[i].writer, fds[i]);
        senders[i].control = control;
        senders[i].by_count = trial->count > 0;
        senders[i].share = share_of_count(launch, trial, i);
        senders[i].duration = seconds_ns(trial->duration);
        senders[i].omit = seconds_ns(trial->omit);
        senders[i].bytes = senders[i].messages = senders[i].newest = 0;
        senders[i].omitted = senders[i].omitted_messages = 0;
        senders[i].omitted_usage = (struct usage){0};
        senders[i].before = (struct tcp_state){0};
        atomic_store(&senders[i].counts, trial->omit <= 0);
        senders[i].samples = senders[i].sampler_samples = (struct samples){0};
        atomic_store(&senders[i].sampled_at, now_ns());
        intervals_prepare(&senders[i].intervals, launch, trial, quantities, COLUMNS);
    }
}

static void read_flow(const struct sender *s, const struct tcp_state *state,
                      uint64_t readings[COLUMNS])
{
    readings[0] = s->bytes;
    readings[1] = state->retransmits;
    readings[2] = (uint64_t)state->congestion_window;
    readings[3] = (uint64_t)(state->rtt * 1e9 + 0.5);
}

/* A call took nothing. */
static void wait_for_room(struct sender *s, int error, uint64_t since)
{
    if (error == ENOBUFS) { /* too many zero-copy calls under way */
        struct zerocopy *calls = &s->writer.zerocopy;
        uint64_t before = calls->completed;
        poll(&(struct pollfd){.fd = s->writer.fd}, 1, 1000);
        zerocopy_reap(calls);
        if (calls->completed == before && calls->completed == calls->handed)
            fail(NO_BUFFERS, "the kernel takes no zero-copy data: smaller messages may pass, or a "
                 "higher 'ulimit -l' or net.core.optmem_max");
        error = EAGAIN;
    }
    if (error == EAGAIN && wait_ready(s->writer.fd, POLLOUT))
        return;
    handle_stall(s->control, error, since, "send");
}

static void set_cork(int fd, int on)
{
    setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on);
}

static const struct item *item_of(const struct sender *s)
{
    return s->source->items ? &s->source->items[s->messages % s->source->count] : NULL;
}

/* Connections take turns, rather than to send all at the same moment. */
static void begin_pace(struct pace *pace, const struct sender *s, uint64_t stop)
{
    pace_begin(pace, 0);
    uint64_t begin = pace->begin + (uint64_t)s->late_ns;
    pace->begin = wait_until(begin < stop ? begin : stop);
}

/* Waits until the next bytes are due; false if that is not before the time is up. */
static bool wait_for_turn(struct pace *pace, const struct sender *s, size_t last, uint64_t stop)
{
    double offset = (double)s->bytes * s->byte_ns;
    pace_to(pace, offset, (double)last * s->byte_ns, stop);
    return pace->begin + (uint64_t)offset < stop;
}

/* Every byte has its time: the last call's too belongs to the flow. Where connections take turns,
 * that lasts until the next one's. Returns now. */
static uint64_t keep_last_slot(const struct pace *pace, const struct sender *s, size_t last)
{
    double turns = (double)(s->bytes - last) + (double)last / (double)s->connections;
    uint64_t end = pace->begin + (uint64_t)(turns * s->byte_ns);
    uint64_t latest = now_ns() + seconds_ns(LONGEST_WAIT);
    return wait_until(end < latest ? end : latest);
}

/* Between two calls: what was sent until now doesn't count, nor does a message that is under way.
 * At a rate the schedule goes on, but what it lacks is omitted, too. */
static void begin_to_count(struct sender *s, struct pace *pace, uint64_t now, bool midway,
                           const struct tcp_state *state)
{
    uint64_t due = pace->begin + (uint64_t)((double)s->bytes * s->byte_ns);
    s->omitted = s->bytes;
    s->omitted_messages = s->messages + midway;
    s->before = *state;
    usage_end(&s->omitted_usage);
    s->began = now;
    if (s->byte_ns > 0 && due > now)
        s->began = due;
    else
        pace->begin += now - due;
    if (!s->by_count)
        s->stop = s->began + s->duration;
    atomic_store(&s->counts, true);
    interrupt_calls(s->by_count ? 0 : s->stop);
}

static uint64_t next_look(const struct sender *s, uint64_t now)
{
    uint64_t next = now + SAMPLE_INTERVAL;
    next = s->intervals.next < next ? s->intervals.next : next;
    return !atomic_load(&s->counts) && s->count_from < next ? s->count_from : next;
}

/* Returns when to look again. */
static uint64_t look(struct sender *s, struct pace *pace, uint64_t now, bool midway)
{
    bool counts = atomic_load(&s->counts), begins = !counts && now >= s->count_from;
    sample_connection(s->writer.fd, counts, &s->samples);
    if (counts)
        atomic_store(&s->sampled_at, now);
    if (begins || now >= s->intervals.next) {
        struct tcp_state state = read_tcp_state(s->writer.fd, &s->samples);
        uint64_t readings[COLUMNS];
        read_flow(s, &state, readings);
        readings[0] -= s->newest;
        intervals_close(&s->intervals, begins ? s->count_from : now, readings);
        if (begins) {
            begin_to_count(s, pace, now, midway, &state);
            readings[0] = s->bytes;
            intervals_divide(&s->intervals, now, readings);
        }
    }
    return next_look(s, now);
}

/* Not before what counts has begun, however long the omitted part took. */
static bool is_over(const struct sender *s, uint64_t now)
{
    if (!atomic_load_explicit(&s->counts, memory_order_relaxed))
        return false;
    return s->by_count ? s->messages >= s->omitted_messages + s->share : now >= s->stop;
}

/* Its time begins. */
static uint64_t begin_flow(struct sender *s)
{
    bool counts = atomic_load(&s->counts);
    if (!counts)
        usage_begin(&s->omitted_usage);
    uint64_t now = now_ns();
    s->count_from = now + s->omit;
    intervals_begin(&s->intervals, now);
    s->stop = s->by_count ? UINT64_MAX : s->count_from + s->duration;
    if (!counts || !s->by_count)
        interrupt_calls(counts ? s->stop : s->count_from);
    return now;
}

void send_flow(void *share)
{
    struct sender *s = share;
    const struct item *item = item_of(s);
    size_t size = item ? item->size : s->message, at = 0; /* of the message under way */
    size_t last = 0;                                      /* bytes of the call before */
    uint64_t now = begin_flow(s), progress = now, look_at = next_look(s, now);
    struct pace pace = {.begin = now};
    if (s->byte_ns > 0)
        begin_pace(&pace, s, s->stop);
    s->began = now = pace.begin;
    while (!is_over(s, now)) {
        if (now >= look_at) {
            look_at = look(s, &pace, now, at > 0);
            continue; /* of what counts from here on there may be nothing to send */
        }
        if (s->byte_ns > 0 && !wait_for_turn(&pace, s, last, s->stop))
            break;
        size_t left = size - at;
        if (s->cork && at == 0)
            set_cork(s->writer.fd, 1);
        ssize_t step = s->writer.put(&s->writer, item, at, s->chunk < left ? s->chunk : left);
        int error = errno;
        now = now_ns();
        if (step <= 0) {
            wait_for_room(s, error, progress);
            s->newest = 0;
            continue;
        }
        progress = now;
        last = (size_t)step;
        s->newest = last;
        s->bytes += last;
        at += last;
        if (at < size)
            continue;
        if (s->cork)
            set_cork(s->writer.fd, 0);
        s->messages++;
        item = item_of(s);
        size = item ? item->size : s->message;
        at = 0;
    }
    interrupt_calls(0);
    if (!atomic_load(&s->counts))
        fail(TOO_SHORT, "the time was over before anything was sent that counts: ask for more");
    if (s->cork)
        set_cork(s->writer.fd, 0);
    s->ended = s->byte_ns > 0 ? keep_last_slot(&pace, s, last) : now;
    s->state = read_tcp_state(s->writer.fd, &s->samples);
    uint64_t readings[COLUMNS];
    read_flow(s, &s->state, readings);
    intervals_finish(&s->intervals, s->ended, readings);
    shutdown(s->writer.fd, SHUT_WR);
}

/* Over a slow link a full socket buffer takes its time, and only standing still is a failure. The
 * FIN counts as a byte, behind all data: its acknowledgement may be delayed by 40 ms. */
static void wait_for_last_byte(const struct sender *s)
{
    uint64_t since = now_ns();
    int left = 0, before = INT_MAX;
    while (ioctl(s->writer.fd, SIOCOUTQ, &left) == 0 && left > 1) {
        if (left < before)
            since = now_ns();
        before = left;
        handle_stall(s->control, EAGAIN, since, "send");
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
}

void wait_until_sent(struct sender *senders, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        wait_for_last_byte(&senders[i]);
        struct zerocopy *calls = &senders[i].writer.zerocopy;
        if (calls->handed && !zerocopy_finish(calls))
            fail(SYSTEM_ERROR, "the kernel does not say what became of zero-copy data");
    }
}

struct intervals *sent_intervals(const struct sender *senders, const struct trial *trial,
                                 uint64_t retransmits, size_t count)
{
    static struct intervals sum;
    intervals_prepare(&sum, senders->launch, trial, quantities, COLUMNS);
    for (size_t i = 0; i < count; i++) {
        intervals_add(&sum, &senders[i].intervals);
        retransmits += senders[i].before.retransmits;
    }
    for (size_t i = 0; i < sum.count; i++)
        sum.readings[i * COLUMNS + 3] /= count;
    if (sum.count)
        intervals_last(&sum)[1] = retransmits;
    return &sum;
}

struct path path_of(const struct sender *senders, const uint64_t windows[], size_t count)
{
    int fds[MAX_THREADS] = {0};
    struct tcp_state states[MAX_THREADS] = {0};
    for (size_t i = 0; i < count; i++) {
        fds[i] = senders[i].writer.fd;
        states[i] = senders[i].state;
        merge_samples(&states[i], &senders[i].samples, &senders[i].sampler_samples);
    }
    struct path path = read_path(fds, states, windows, count);
    for (size_t i = 0; i < count; i++)
        leave_out(&path, &senders[i].before);
    return path;
}

double sending_seconds(const struct sender *senders, size_t count)
{
    uint64_t began = UINT64_MAX, ended = 0;
    for (size_t i = 0; i < count; i++) {
        began = senders[i].began < began ? senders[i].began : began;
        ended = senders[i].ended > ended ? senders[i].ended : ended;
    }
    return ns_seconds(ended - began);
}

uint64_t sent_bytes(const struct sender *senders, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += senders[i].bytes - senders[i].omitted;
    return bytes;
}

uint64_t sent_messages(const struct sender *senders, size_t count)
{
    uint64_t messages = 0;
    for (size_t i = 0; i < count; i++)
        if (senders[i].messages > senders[i].omitted_messages) /* one cut short may be the last */
            messages += senders[i].messages - senders[i].omitted_messages;
    return messages;
}

struct omitted sum_omitted(const struct sender *senders, size_t count, struct usage *usage)
{
    struct omitted sum = {0};
    for (size_t i = 0; i < count; i++) {
        sum.bytes += (double)senders[i].omitted;
        sum.retransmits += senders[i].before.retransmits;
        sum.segments += senders[i].before.segments;
        omit_usage(usage, &sum, &senders[i].omitted_usage);
    }
    return sum;
}
