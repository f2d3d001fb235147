#include "sender.h"

#include "stamps.h"
#include "writer.h"

#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/pace.h"
#include "../lib/parameters.h"
#include "../lib/under_rate.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

static const enum quantity quantity = SENT_PACKETS; /* of intervals */

/* One stream. */
struct sender {
    const struct sender_group *group;
    bool stamps_wall; /* with the clock that the receiving kernel stamps with, for a trace */
    uint64_t share; /* datagrams that count */
    uint64_t limit; /* datagrams now */
    uint64_t omitted_flag; /* in each number, until the datagrams count */
    uint64_t omitted;      /* datagrams sent until then */
    uint64_t count_from;   /* the moment */
    struct usage omitted_usage;
    uint64_t began, stop, ended;
    double interval; /* ns from one datagram to the next; 0: as fast as it can */
    double wait;     /* ns from one call to the next; 0: none */
    double late;     /* ns after the other streams' */
    uint64_t sent, retries, spun;
    uint64_t newest;  /* datagrams of the call that has just ended */
    uint64_t look_at; /* the moment when an interval ends, or the omitted part */
    struct intervals intervals;
    struct histogram gaps;
    struct writer writer;
};

void check_sending(const struct launch *launch)
{
    double rate = number_of(launch, "rate"), size = number_of(launch, "datagram");
    int gso = int_of(launch, "gso"), most = (int)(LARGEST / size);
    if (rate > 0 && number_of(launch, "wait") > 0)
        fail(BAD_PARAMETER, "rate and wait both say when to send: give one of them");
    if (udp_mode_of(launch)->needs_rate && rate <= 0)
        fail(BAD_PARAMETER, "rate: the generator needs one, such as 100Mbit/s");
    if (number_in_effect(launch, "omit") > 0 && header_of(size_of(launch, "datagram")) < NUMBER)
        fail(BAD_PARAMETER, "omit: datagrams of fewer than 8 bytes have no room to say that they "
                            "don't count");
    if (gso > 1 && int_of(launch, "batch") > 1)
        fail(BAD_PARAMETER, "batch and gso are two ways to send many at once: give one of them");
    if (strcmp(text_of(launch, "send"), "zerocopy") == 0 && int_of(launch, "batch") > 1)
        fail(BAD_PARAMETER, "batch: send zerocopy takes one call a send: use gso for many at once");
    if (gso > 1 && gso > most)
        fail(BAD_PARAMETER,
             "gso: %d datagrams of %g bytes are more than the %d bytes that one send takes: at "
             "most %d", gso, size, LARGEST, most);
}

static void prepare(struct sender *sender, const struct sender_group *group, size_t number)
{
    const struct launch *launch = group->launch;
    double rate = number_of(launch, "rate") / (double)group->count;
    sender->group = group;
    sender->stamps_wall = is_stamped(launch);
    writer_prepare(&sender->writer, launch, group->trial->token, group->fds[number], group->to);
    sender->limit = UINT64_MAX;
    sender->share =
        group->trial->count ? share_of_count(launch, group->trial, number) : UINT64_MAX;
    sender->interval = rate > 0 ? number_of(launch, "datagram") * 8e9 / rate : 0;
    sender->wait = number_of(launch, "wait") * 1e9;
    /* Streams take turns, rather than to send all at the same moment. */
    sender->late = (rate > 0 ? sender->interval * writer_width(&sender->writer) : sender->wait) *
                   (double)number / (double)group->count;
    sender->omitted_flag = group->trial->omit > 0 ? OMITTED_FLAG : 0;
    sender->omitted = 0;
    sender->omitted_usage = (struct usage){0};
    sender->sent = sender->retries = sender->spun = sender->began = sender->ended = 0;
    sender->newest = 0;
    intervals_prepare(&sender->intervals, launch, group->trial, &quantity, 1);
    histogram_clear(&sender->gaps);
}

/* What one of them is made of. */
struct making {
    struct sender **sender;
    const struct launch *launch;
};

static void make_sender(void *share)
{
    const struct making *making = share;
    struct sender *sender = (struct sender *)(void *)test_buffer(sizeof *sender);
    histogram_open(&sender->gaps);
    sender->intervals = (struct intervals){0};
    writer_make(&sender->writer, making->launch);
    *making->sender = sender;
}

/* By its own thread each, for its memory's sake. */
static void make_senders(struct sender_group *group, bool server, int first)
{
    struct task tasks[MAX_THREADS];
    struct making making[MAX_THREADS];
    for (size_t i = 0; i < group->count; i++) {
        making[i] = (struct making){&group->senders[i], group->launch};
        tasks[i] = (struct task){make_sender, &making[i], first + (int)i};
    }
    team_prepare(group->launch, server, tasks, group->count);
}

void sender_group_prepare(struct sender_group *group, bool server, int first)
{
    group->count = (size_t)int_of(group->launch, "threads");
    if (group->senders[0] == NULL)
        make_senders(group, server, first);
    for (size_t i = 0; i < group->count; i++)
        prepare(group->senders[i], group, i);
}

/* Hands datagrams to the kernel in one call; returns how many it took, -1 for an error. */
static int hand_over(struct sender *sender, uint64_t now)
{
    uint64_t stamp = sender->stamps_wall ? wall_ns() : now;
    return sender->writer.put(&sender->writer, sender->sent | sender->omitted_flag,
                              sender->limit - sender->sent, stamp);
}

static void refused(struct sender *sender, int error)
{
    if (error == ENOBUFS) { /* memory is free again in microseconds */
        sender->retries++;
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    } else if ((error == EINVAL || error == EMSGSIZE) && sender->writer.segments > 1) {
        fail(BAD_PARAMETER,
             "gso: the kernel does not cut sends into %u datagrams of %zu bytes: each has to fit "
             "the link's MTU, and older kernels take at most 64",
             sender->writer.segments, sender->writer.size);
    } else if (error == EAGAIN) {
        /* At once on a socket that doesn't block, else its wait is over. */
        poll(&(struct pollfd){.fd = sender->writer.fd, .events = POLLOUT}, 1, WAIT_MS);
    } else if (error != EINTR) {
        datagrams_failed(sender->group->control, error);
    }
}

/* The omitted part is over: what is sent next counts, as if it were the first. */
static void begin_to_count(struct sender *sender, uint64_t now)
{
    sender->omitted = sender->sent;
    sender->sent = sender->retries = sender->omitted_flag = 0;
    sender->limit = sender->share;
    histogram_clear(&sender->gaps);
    usage_end(&sender->omitted_usage);
    sender->began = now;
    if (sender->stop != UINT64_MAX)
        sender->stop = now + seconds_ns(sender->group->trial->duration);
}

static void look(struct sender *sender, uint64_t now)
{
    bool begins = sender->omitted_flag && now >= sender->count_from;
    uint64_t sent = sender->omitted + sender->sent - sender->newest;
    intervals_close(&sender->intervals, begins ? sender->count_from : now, &sent);
    if (begins) {
        begin_to_count(sender, now);
        intervals_divide(&sender->intervals, now, &sender->omitted);
    }
    sender->look_at = sender->intervals.next;
    if (sender->omitted_flag && sender->count_from < sender->look_at)
        sender->look_at = sender->count_from;
}

static bool more(struct sender *sender, uint64_t now)
{
    if (now >= sender->look_at)
        look(sender, now);
    return sender->sent < sender->limit && now < sender->stop;
}

/* One call, repeated until the kernel takes something or the time is up; returns now. */
static uint64_t call(struct sender *sender, uint64_t now)
{
    uint64_t began = now;
    for (;;) {
        int handed = hand_over(sender, now);
        if (handed > 0) {
            sender->newest = (uint64_t)handed;
            sender->sent += sender->newest;
            return now_ns();
        }
        refused(sender, errno);
        now = now_ns();
        if (now >= sender->stop)
            return now;
        if (now - began > STALL_NS)
            fail(NO_BUFFERS, "the kernel took no datagram for 10 s");
    }
}

/* Every datagram has its time: with a rate, the last one's too belongs to the stream. Where streams
 * take turns, that lasts until the next one's. */
static void keep_last_slot(const struct sender *sender, struct pace *pace)
{
    if (sender->interval <= 0 || sender->sent == 0)
        return;
    uint64_t most = writer_width(&sender->writer);
    uint64_t last = 1 + (sender->sent - 1) % most; /* in the last call */
    double slots = (double)(sender->sent - last) + (double)last / (double)sender->group->count;
    uint64_t end = pace->begin + (uint64_t)(slots * sender->interval);
    uint64_t latest = now_ns() + STALL_NS;
    wait_spinning(end < latest ? end : latest, &pace->spun);
}

static void send_paced(struct sender *sender)
{
    struct pace pace;
    double step = sender->interval * writer_width(&sender->writer);
    uint64_t last = 0;
    bool counts = sender->omitted_flag == 0;
    pace_begin(&pace, sender->wait > 0 ? sender->wait : step);
    uint64_t begin = pace.begin + (uint64_t)sender->late;
    pace.begin = wait_spinning(begin < sender->stop ? begin : sender->stop, &pace.spun);
    sender->began = pace.begin;
    while (more(sender, last)) {
        if (!counts && sender->omitted_flag == 0) {
            /* The schedule goes on; what it lacks is omitted. */
            counts = true;
            pace.begin += (uint64_t)((double)pace.number * pace.interval);
            pace.begin = pace.begin > sender->began ? pace.begin : sender->began;
            sender->began = pace.begin;
            pace.number = pace.spun = last = 0;
        }
        uint64_t now = sender->wait > 0 ? pace_after(&pace, sender->stop)
                                        : pace_next(&pace, sender->stop);
        if (now >= sender->stop && sender->omitted_flag == 0)
            break;
        if (last)
            histogram_add(&sender->gaps, now - last);
        last = now;
        call(sender, now);
    }
    keep_last_slot(sender, &pace);
    sender->spun = pace.spun;
}

static void send_stream(void *share)
{
    struct sender *sender = share;
    const struct sender_group *group = sender->group;
    while (group->first_arrived && !atomic_load(group->first_arrived) &&
           !atomic_load(group->sent_known))
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    uint64_t now = sender->began = sender->ended = now_ns();
    if (group->first_arrived && !atomic_load(group->first_arrived))
        return; /* the other end is through, and nothing of it arrived */
    sender->count_from = now + seconds_ns(group->trial->omit);
    sender->look_at = 0;
    intervals_begin(&sender->intervals, now);
    sender->stop = group->trial->count ? UINT64_MAX
                                       : sender->count_from + seconds_ns(group->trial->duration);
    if (sender->omitted_flag)
        usage_begin(&sender->omitted_usage);
    else
        sender->limit = sender->share;
    if (sender->limit > 0 && (sender->interval > 0 || sender->wait > 0))
        send_paced(sender);
    else
        while (more(sender, now))
            now = call(sender, now);
    sender->ended = now_ns();
    if (group->trial->omit > 0 && sender->sent == 0 && sender->share > 0)
        fail(TOO_SHORT, "the time was over before anything was sent that counts: ask for more");
    uint64_t sent = sender->omitted + sender->sent;
    intervals_finish(&sender->intervals, sender->ended, &sent);
}

struct intervals *sender_group_intervals(const struct sender_group *group)
{
    static struct intervals sum;
    intervals_prepare(&sum, group->launch, group->trial, &quantity, 1);
    for (size_t i = 0; i < group->count; i++)
        intervals_add(&sum, &group->senders[i]->intervals);
    return &sum;
}

void sender_group_tasks(struct sender_group *group, struct task *tasks, int first)
{
    for (size_t i = 0; i < group->count; i++)
        tasks[i] = (struct task){send_stream, group->senders[i], first + (int)i};
}

struct sent sender_group_done(const struct sender_group *group)
{
    struct sent sent = {0};
    uint64_t began = UINT64_MAX, ended = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct sender *sender = group->senders[i];
        sent.packets += sender->sent;
        sent.retries += sender->retries;
        sent.spun += ns_seconds(sender->spun);
        began = sender->began < began ? sender->began : began;
        ended = sender->ended > ended ? sender->ended : ended;
    }
    sent.elapsed = ns_seconds(ended - began);
    return sent;
}

/* All that the kernel still reads is sent by then. */
static void finish_zerocopy(const struct sender_group *group, struct result *result)
{
    uint64_t completed = 0, copied = 0;
    for (size_t i = 0; i < group->count; i++) {
        struct zerocopy *calls = &group->senders[i]->writer.zerocopy;
        if (calls->handed && !zerocopy_finish(calls))
            fail(SYSTEM_ERROR, "the kernel does not say what became of zero-copy data");
        completed += calls->completed;
        copied += calls->copied;
    }
    set_zerocopy_copied(result, completed, copied);
}

struct omitted sender_group_omitted(const struct sender_group *group, struct usage *usage)
{
    struct omitted sum = {0};
    for (size_t i = 0; i < group->count; i++) {
        const struct sender *sender = group->senders[i];
        sum.bytes += (double)(sender->omitted * sender->writer.size);
        omit_usage(usage, &sum, &sender->omitted_usage);
    }
    return sum;
}

void add_sent(const struct sender_group *group, struct fields *fields, const char *name)
{
    char text[VALUE_LIMIT];
    size_t at = 0;
    for (size_t i = 0; i < group->count; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, i ? ",%llu" : "%llu",
                               (unsigned long long)group->senders[i]->sent);
    fields_add(fields, name, text);
}

void sender_group_gaps(const struct sender_group *group, struct result *result)
{
    static struct histogram gaps;
    histogram_clear(&gaps);
    for (size_t i = 0; i < group->count; i++)
        histogram_merge(&gaps, &group->senders[i]->gaps);
    if (gaps.count == 0)
        return;
    result_set(result, "send_gap_p50", histogram_quantile(&gaps, 0.5) / 1e9);
    result_set(result, "send_gap_p99", histogram_quantile(&gaps, 0.99) / 1e9);
}

void note_rate(const struct sender_group *group, const char *side, double packets,
               double throughput)
{
    const struct launch *launch = group->launch;
    double gso = number_of(launch, "gso");
    /* The last call of each thread may have been due just as time was up. */
    double calls = number_of(launch, "threads") * number_of(launch, "batch") * (gso > 0 ? gso : 1);
    if (packets <= 0)
        return;
    struct achieved achieved = {
        .replication = group->trial->number,
        .side = side,
        .throughput = throughput,
        .due = throughput * (packets + calls) / packets,
        .advice = "send larger datagrams, more of them in a call (batch, gso) or more threads",
    };
    warn_under_rate(launch, &achieved);
}

void sender_group_result(const struct sender_group *group, struct result *result)
{
    struct sent sent = sender_group_done(group);
    double bytes = (double)sent.packets * number_of(group->launch, "datagram");
    double throughput = bytes * 8 / sent.elapsed;
    note_rate(group, "client", (double)sent.packets, throughput);
    result_set(result, "local_throughput", throughput);
    result_set(result, "sent_packets", (double)sent.packets);
    result_set(result, "sent_bytes", bytes);
    result_set(result, "sender_retries", (double)sent.retries);
    result_set(result, "client_polling_time", sent.spun);
    sender_group_gaps(group, result);
}

void sender_group_run(struct sender_group *group, struct client *client, const struct trial *trial,
                      struct result *result)
{
    struct task tasks[MAX_THREADS];
    group->launch = client->launch;
    group->trial = trial;
    group->fds = client->fds;
    group->control = client->control;
    sender_group_prepare(group, false, 0);
    sender_group_tasks(group, tasks, 0);
    struct usage usage = team_run(client->launch, false, tasks, group->count);
    finish_zerocopy(group, result);
    sender_group_omitted(group, &usage);
    usage.elapsed = sender_group_done(group).elapsed;
    result_set_usage(result, "client", &usage);
    sender_group_result(group, result);
}
