#include "receiver.h"

#include "drops.h"
#include "header.h"
#include "stamps.h"

#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"
#include "../lib/sequence.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define RECEIVE_BATCH 64 /* datagrams taken in one call */
#define SHORTEST_DRAIN_NS (DRAIN_NS / 4) /* a busy host's kernel may hold packets for so long */
#define GRO_BATCH 2      /* likewise, each of many datagrams; more would not stay in the cache */
#define GRO_SIZE 65536
#define HEADER_ROOM 32   /* header, and a byte more */
#define LOOKS 20         /* for more, before it sleeps: some 5 us */
#define SLEEPS_BLIND 64  /* without a look before, until looking is tried again */

enum { COLUMNS = 2 };
static const enum quantity quantities[COLUMNS] = {RECEIVED_PACKETS, LOST_PACKETS}; /* of intervals */

struct receiver {
    struct receiver_group *group;
    size_t number, size;
    int fd;
    enum header header;
    uint64_t token;
    bool gro, notes; /* the kernel adds notes (control messages) to what arrives */
    bool nonblocking;
    unsigned int width;     /* taken in one call */
    bool adapts, polls;     /* receive: adaptive, poll */
    int looks;              /* before it sleeps */
    int sleeps;             /* without having looked */
    uint64_t polled;        /* ns */
    struct sequence sequence;
    struct sequence omitted; /* datagrams before those that count */
    uint64_t omitted_at;     /* the first of those */
    struct usage omitted_usage;
    uint64_t first_at, with_first, last_at;
    uint64_t first_sent, last_sent; /* by the sender's clock; 0: they don't say */
    uint64_t longest_gap;           /* from one arrival to the next */
    _Atomic uint64_t quiet_since;
    uint64_t caught_up_at;          /* when nothing more was there to take for the first time; 0: never */
    uint64_t at_catch_up, catch_up_sent; /* datagrams until then; the newest one's first_sent */
    struct drops drops;
    struct intervals intervals;
    struct mmsghdr messages[RECEIVE_BATCH];
    struct iovec parts[RECEIVE_BATCH][2];
    unsigned char headers[RECEIVE_BATCH][HEADER_ROOM];
    union {
        struct cmsghdr aligned;
        unsigned char room[CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(int))];
    } control[RECEIVE_BATCH];
    _Alignas(4096) unsigned char space[GRO_BATCH * GRO_SIZE];
};

/* With GRO a message is many datagrams, in one piece. Without, one datagram: its header, and a
 * payload that nobody reads, a byte more of which shows a datagram that is too long. */
static void prepare_message(struct receiver *receiver, unsigned int i)
{
    size_t head = receiver->size < PACKET_HEADER ? receiver->size + 1 : PACKET_HEADER;
    size_t rest = receiver->size < PACKET_HEADER ? 1 : receiver->size - PACKET_HEADER + 1;
    struct msghdr *message = &receiver->messages[i].msg_hdr;
    *message = (struct msghdr){.msg_iov = receiver->parts[i], .msg_iovlen = receiver->gro ? 1 : 2};
    receiver->parts[i][0] = (struct iovec){receiver->headers[i], head};
    receiver->parts[i][1] = (struct iovec){receiver->space, rest};
    if (receiver->gro)
        receiver->parts[i][0] = (struct iovec){receiver->space + i * GRO_SIZE, GRO_SIZE};
    if (receiver->notes)
        message->msg_control = receiver->control[i].room;
}

static void prepare(struct receiver *receiver, struct receiver_group *group, size_t number)
{
    const struct launch *launch = group->launch;
    bool by_user = strcmp(text_of(launch, "timestamp"), "user") == 0;
    unsigned char scrap[1];
    uint64_t limit = now_ns() + DRAIN_NS;
    receiver->group = group;
    receiver->number = number;
    receiver->fd = group->fds[number];
    receiver->size = size_of(launch, "datagram");
    receiver->header = header_of(receiver->size);
    receiver->token = group->trial->token;
    receiver->gro = number_of(launch, "gro") != 0;
    receiver->notes = receiver->gro || (group->trace && !by_user);
    receiver->nonblocking = int_of(launch, "blocking") == 0;
    receiver->width = receiver->gro ? GRO_BATCH : RECEIVE_BATCH;
    if (group->trace && by_user) /* each has its own time */
        receiver->width = 1;
    receiver->polls = strcmp(text_of(launch, "receive"), "poll") == 0;
    /* From a real-time thread that never sleeps, Linux takes the CPU 50 ms of every second. */
    receiver->adapts = strcmp(text_of(launch, "receive"), "adaptive") == 0 &&
                       strcmp(text_of(launch, "scheduler"), "other") == 0;
    receiver->looks = receiver->adapts ? LOOKS : 0;
    receiver->sleeps = 0;
    receiver->polled = 0;
    receiver->first_at = receiver->with_first = receiver->last_at = 0;
    receiver->caught_up_at = receiver->at_catch_up = receiver->catch_up_sent = 0;
    receiver->omitted_at = 0;
    receiver->omitted_usage = (struct usage){0};
    receiver->first_sent = receiver->last_sent = receiver->longest_gap = 0;
    sequence_clear(&receiver->sequence);
    receiver->omitted.unique = receiver->omitted.next = 0;
    intervals_prepare(&receiver->intervals, launch, group->trial, quantities, COLUMNS);
    if (group->trial->omit > 0)
        sequence_clear(&receiver->omitted);
    for (unsigned int i = 0; i < receiver->width; i++)
        prepare_message(receiver, i);
    while (recv(receiver->fd, scrap, sizeof scrap, MSG_DONTWAIT) >= 0 && now_ns() < limit)
        ;
    uint64_t segments = (uint64_t)int_of(launch, "gso");
    drops_begin(&receiver->drops, receiver->fd, receiver->gro, segments + (segments == 0));
}

/* The path's shortest round trip, in ns, as the kernel saw it on the control channel. */
static uint64_t path_round_trip(int control)
{
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    if (getsockopt(control, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 ||
        length < offsetof(struct tcp_info, tcpi_min_rtt) + sizeof info.tcpi_min_rtt ||
        info.tcpi_min_rtt == UINT32_MAX)
        return DRAIN_NS;
    return info.tcpi_min_rtt * 1000ull;
}

static void make_receiver(void *share)
{
    struct receiver **receiver = share;
    *receiver = (struct receiver *)(void *)test_buffer(sizeof **receiver);
    (*receiver)->intervals = (struct intervals){0};
}

void receiver_group_prepare(struct receiver_group *group, bool server, int first)
{
    struct task tasks[MAX_THREADS];
    group->count = (size_t)int_of(group->launch, "threads");
    group->round_trip = path_round_trip(group->control);
    group->prepared_at = now_ns();
    atomic_store(&group->origin, 0);
    atomic_store(&group->first_arrived, false);
    atomic_store(&group->sent_known, false);
    for (size_t i = 0; i < group->count; i++)
        tasks[i] = (struct task){make_receiver, &group->receivers[i], first + (int)i};
    if (group->receivers[0] == NULL)
        team_prepare(group->launch, server, tasks, group->count);
    for (size_t i = 0; i < group->count; i++) {
        prepare(group->receivers[i], group, i);
        atomic_store(&group->receivers[i]->quiet_since, now_ns());
    }
}

/* Looks for datagrams without sleeping: as often as that paid lately, or for WAIT_MS if it polls. */
static int look_for_data(struct receiver *receiver, unsigned int count)
{
    uint64_t began = 0, before = 0;
    for (int look = 0; look < receiver->looks || receiver->polls; look++) {
        int received = recvmmsg(receiver->fd, receiver->messages, count, MSG_DONTWAIT, NULL);
        if (received >= 0 || errno != EAGAIN)
            return received;
        uint64_t now = now_ns();
        began = began ? began : now;
        receiver->polled += before ? spinning_ns(before, now) : 0;
        if (receiver->polls && now - began > WAIT_MS * 1000000ull)
            break;
        before = now;
    }
    errno = EAGAIN;
    return -1;
}

/* To wake this thread up would cost a sender on the same host, which a stream comes from at an
 * interval of microseconds, a tenth of its time: so it looks a few times before it sleeps. Where
 * that is in vain, as the stream is slower, it soon hardly does: it would be most of the CPU time. */
static int receive_soon(struct receiver *receiver, unsigned int count)
{
    int received = look_for_data(receiver, count);
    if (receiver->polls || received >= 0 || errno != EAGAIN) {
        receiver->looks = receiver->adapts ? LOOKS : 0;
        return received;
    }
    receiver->looks /= 2;
    if (receiver->adapts && receiver->looks == 0 && ++receiver->sleeps % SLEEPS_BLIND == 0)
        receiver->looks = LOOKS;
    if (receiver->nonblocking)
        poll(&(struct pollfd){.fd = receiver->fd, .events = POLLIN}, 1, WAIT_MS);
    return recvmmsg(receiver->fd, receiver->messages, count, MSG_WAITFORONE, NULL);
}

/* Until nothing more is there: a receiver that gets its CPU late at first finds what came meanwhile,
 * and the path's rate shows only from here on. */
static int catch_up(struct receiver *receiver, unsigned int count)
{
    uint64_t asked_at = now_ns();
    int received = recvmmsg(receiver->fd, receiver->messages, count, MSG_DONTWAIT, NULL);
    if (received < 0 && errno == EAGAIN) {
        receiver->caught_up_at = asked_at;
        receiver->at_catch_up = receiver->sequence.unique;
        receiver->catch_up_sent = receiver->last_sent;
    }
    return received;
}

static int receive_call(struct receiver *receiver)
{
    /* What comes first comes alone, so that the time starts with exactly that. */
    bool first = receiver->first_at == 0 && receiver->group->trial->omit <= 0;
    unsigned int count = first ? 1 : receiver->width;
    if (receiver->notes)
        for (unsigned int i = 0; i < count; i++)
            receiver->messages[i].msg_hdr.msg_controllen = sizeof receiver->control[i].room;
    if (receiver->first_at && receiver->caught_up_at == 0) {
        int received = catch_up(receiver, count);
        if (received >= 0 || errno != EAGAIN)
            return received;
    }
    return receive_soon(receiver, count);
}

/* What the kernel says of a message: how long its datagrams are, and when it came. */
static void read_notes(struct msghdr *message, size_t *step, uint64_t *at)
{
    for (struct cmsghdr *note = CMSG_FIRSTHDR(message); note; note = CMSG_NXTHDR(message, note)) {
        int size;
        struct timespec time;
        if (note->cmsg_level == SOL_UDP && note->cmsg_type == UDP_GRO) {
            memcpy(&size, CMSG_DATA(note), sizeof size);
            if (size > 0)
                *step = (size_t)size;
        } else if (note->cmsg_level == SOL_SOCKET && note->cmsg_type == SCM_TIMESTAMPNS) {
            memcpy(&time, CMSG_DATA(note), sizeof time);
            *at = (uint64_t)time.tv_sec * NANOSECONDS + (uint64_t)time.tv_nsec;
        }
    }
}

static void record(const struct receiver_group *group, uint64_t number, const unsigned char *packet,
                   uint64_t at)
{
    struct trace *trace = group->trace;
    if (trace->recorded < group->trace_room)
        trace->arrivals[trace->recorded++] = (struct arrival){number, at, get_be64(packet + 16)};
}

/* Counts one datagram; false if it wasn't new. Strangers and stragglers don't have the token, or
 * else not the ports. */
static bool take_datagram(struct receiver *receiver, const unsigned char *packet, size_t length,
                          uint64_t at)
{
    uint64_t number;
    if (length != receiver->size || !header_read(packet, receiver->header, receiver->token,
                                                 receiver->sequence.next, &number))
        return false;
    if (number & OMITTED_FLAG && receiver->group->trial->omit > 0)
        return number - OMITTED_FLAG <= COUNT_LIMIT &&
               sequence_add(&receiver->omitted, number - OMITTED_FLAG);
    if (number > COUNT_LIMIT)
        return false;
    if (receiver->group->trace)
        record(receiver->group, number, packet, at);
    return sequence_add(&receiver->sequence, number);
}

/* The datagrams of one message; the last new one of them, or NULL. */
static const unsigned char *take_message(struct receiver *receiver, unsigned int i, uint64_t at)
{
    size_t length = receiver->messages[i].msg_len, step = length;
    const unsigned char *packet =
        receiver->gro ? receiver->space + i * GRO_SIZE : receiver->headers[i];
    const unsigned char *newest = NULL;
    uint64_t number;
    if (receiver->notes)
        read_notes(&receiver->messages[i].msg_hdr, &step, &at);
    if (receiver->gro && step == receiver->size &&
        header_read(packet, receiver->header, receiver->token, receiver->sequence.next, &number) &&
        !(number & OMITTED_FLAG))
        drops_note_message(&receiver->drops, number, length / step);
    for (; length > 0; packet += step, length -= step) {
        if (step > length)
            step = length;
        if (take_datagram(receiver, packet, step, at))
            newest = packet;
    }
    return newest;
}

/* Those of the omitted part have its datagrams alone, late as they may be. */
static void close_intervals(struct receiver *receiver, uint64_t now)
{
    const struct sequence *sequence = &receiver->sequence, *omitted = &receiver->omitted;
    uint64_t counts_from = receiver->intervals.origin + receiver->intervals.omit;
    intervals_close(&receiver->intervals, now < counts_from ? now : counts_from,
                    (uint64_t[]){omitted->unique, omitted->next - omitted->unique});
    intervals_close(&receiver->intervals, now,
                    (uint64_t[]){sequence->unique, sequence->next - sequence->unique});
}

/* The first datagram of this stream has come. */
static void begin_intervals(struct receiver *receiver, uint64_t now)
{
    uint_fast64_t origin = 0;
    if (atomic_compare_exchange_strong(&receiver->group->origin, &origin, now))
        origin = now;
    intervals_begin(&receiver->intervals, origin);
}

static void take_messages(struct receiver *receiver, unsigned int count, uint64_t now)
{
    const unsigned char *newest = NULL;
    if (now >= receiver->intervals.next)
        close_intervals(receiver, now);
    for (unsigned int i = 0; i < count; i++) {
        const unsigned char *packet = take_message(receiver, i, now);
        newest = packet ? packet : newest;
    }
    if (newest == NULL)
        return;
    if (receiver->last_at == 0)
        begin_intervals(receiver, now);
    if (receiver->header == FULL)
        receiver->last_sent = get_be64(newest + 16);
    if (receiver->omitted.unique > 0 && receiver->omitted_at == 0)
        receiver->omitted_at = now;
    if (receiver->first_at == 0 && receiver->sequence.unique > 0) {
        if (receiver->group->trial->omit > 0) {
            usage_end(&receiver->omitted_usage);
            receiver->polled = 0;
            drops_begin_again(&receiver->drops);
        }
        receiver->first_at = now;
        receiver->first_sent = receiver->last_sent;
        receiver->with_first = receiver->sequence.unique;
        atomic_store(&receiver->group->first_arrived, true);
    } else if (receiver->last_at && now - receiver->last_at > receiver->longest_gap) {
        receiver->longest_gap = now - receiver->last_at;
    }
    receiver->last_at = now;
    atomic_store_explicit(&receiver->quiet_since, now, memory_order_relaxed);
}

void receiver_group_set_sent(struct receiver_group *group, const struct fields *fields,
                             const char *name)
{
    char text[VALUE_LIMIT] = "", *at = text;
    fields_find(fields, name, text);
    for (size_t i = 0; i < group->count; i++) {
        char *end;
        unsigned long long sent = strtoull(at, &end, 10);
        if (*at < '0' || *at > '9' || sent > COUNT_LIMIT ||
            *end != (i + 1 < group->count ? ',' : '\0'))
            fail(BAD_PEER, "the other end sent %s = %.64s, which cannot be", name, text);
        group->sent[i] = sent;
        at = end + 1;
    }
    atomic_store(&group->sent_known, true);
}

/* Nothing came for a while: is this the end? The server's first receiver asks for all. */
static void look_for_end(struct receiver *receiver, uint64_t now, uint64_t limit)
{
    struct session *session = receiver->group->session;
    if (session == NULL || receiver->number > 0 || atomic_load(&receiver->group->sent_known))
        return;
    if (session_end_arrived(session))
        receiver_group_set_sent(receiver->group, &session->end, "sent");
    else if (receiver_group_quiet(receiver->group) > seconds_ns(GRACE_SECONDS))
        fail(NO_ANSWER, "no datagram and no word from the client for %g s", GRACE_SECONDS);
    else if (now > limit)
        fail(NO_ANSWER, "the client did not end in time");
}

/* After so much silence, in ns, nothing of what was sent is on its way any more. The END went the
 * same way, so that only what was held up longer than it comes later: by another path, for a round
 * trip's time; or in a queue that lets little pass, as gaps between arrivals have shown. */
static uint64_t drain_time(const struct receiver *receiver)
{
    uint64_t wait = 2 * receiver->longest_gap;
    if (wait == 0 || wait > DRAIN_NS)
        wait = DRAIN_NS;
    if (wait < SHORTEST_DRAIN_NS)
        wait = SHORTEST_DRAIN_NS;
    return wait + 2 * receiver->group->round_trip;
}

static void receive_stream(void *share)
{
    struct receiver *receiver = share;
    struct receiver_group *group = receiver->group;
    uint64_t limit = trial_limit(group->trial, GRACE_SECONDS);
    bool sent_known = false; /* as this thread has noticed */
    if (group->trial->omit > 0)
        usage_begin(&receiver->omitted_usage);
    uint64_t now = now_ns();
    receiver->quiet_since = now;
    while (!sent_known || receiver->sequence.unique < group->sent[receiver->number]) {
        uint64_t asked_at = now;
        int received = receive_call(receiver);
        now = now_ns();
        if (received > 0)
            take_messages(receiver, (unsigned int)received, now);
        else if (errno != EAGAIN && errno != EINTR && errno != ECONNREFUSED)
            fail(SYSTEM_ERROR, "cannot receive datagrams: %s", strerror(errno));
        else
            look_for_end(receiver, now, limit);
        if (!sent_known && atomic_load(&group->sent_known)) {
            sent_known = true;
            receiver->quiet_since = now;
        }
        /* What was there before it asked would have been received, however late its CPU was. */
        if (sent_known && asked_at > receiver->quiet_since + drain_time(receiver))
            break;
        if (now > limit)
            look_for_end(receiver, now, limit);
    }
}

void receiver_group_tasks(struct receiver_group *group, struct task *tasks, int first)
{
    for (size_t i = 0; i < group->count; i++)
        tasks[i] = (struct task){receive_stream, group->receivers[i], first + (int)i};
}

uint64_t receiver_group_quiet(const struct receiver_group *group)
{
    uint64_t since = 0, now = now_ns();
    for (size_t i = 0; i < group->count; i++) {
        uint64_t stream_quiet = atomic_load(&group->receivers[i]->quiet_since);
        since = stream_quiet > since ? stream_quiet : since;
    }
    return now > since ? now - since : 0;
}

static void add_stream(const struct receiver *receiver, struct reception *sum)
{
    const struct sequence *sequence = &receiver->sequence;
    uint64_t drops, sent = receiver->group->sent[receiver->number];
    if (sequence->next > sent)
        fail(BAD_PEER, "a datagram arrived that was never sent");
    sum->received += sequence->unique;
    sum->duplicates += sequence->duplicates;
    sum->reordered += sequence->reordered;
    sum->arrived += sequence->unique + sequence->duplicates + sequence->too_late;
    sum->polled += ns_seconds(receiver->polled);
    sum->drops_known &= drops_count(&receiver->drops, sent, sent - sequence->unique, &drops);
    sum->drops += drops;
}

static void add_omitted_part(const struct receiver *receiver, struct reception *sum,
                             struct usage *usage)
{
    if (receiver->first_at == 0)
        return;
    double elapsed = receiver->omitted_at ? ns_seconds(receiver->first_at - receiver->omitted_at) : 0;
    sum->omitted.bytes += (double)(receiver->omitted.unique * receiver->size);
    sum->omitted.elapsed = elapsed > sum->omitted.elapsed ? elapsed : sum->omitted.elapsed;
    omit_usage(usage, &sum->omitted, &receiver->omitted_usage);
}

/* Where time begins and ends, over all streams, and what came until it began. */
struct span {
    uint64_t begin, end;            /* ns */
    uint64_t first_sent, last_sent; /* likewise, by the sender's clock */
    uint64_t before;                /* datagrams */
};

/* From the first arrival to the last one. */
static struct span whole_span(const struct receiver_group *group)
{
    struct span span = {.begin = UINT64_MAX, .first_sent = UINT64_MAX};
    for (size_t i = 0; i < group->count; i++) {
        const struct receiver *receiver = group->receivers[i];
        if (receiver->first_at == 0)
            continue;
        if (receiver->first_at < span.begin) {
            span.begin = receiver->first_at;
            span.before = receiver->with_first;
        }
        if (receiver->last_at > span.end)
            span.end = receiver->last_at;
        if (receiver->first_sent < span.first_sent)
            span.first_sent = receiver->first_sent;
        if (receiver->last_sent > span.last_sent)
            span.last_sent = receiver->last_sent;
    }
    return span;
}

/* The stream whose receiver had caught up first; NULL if one that has datagrams never had. */
static const struct receiver *first_to_catch_up(const struct receiver_group *group)
{
    const struct receiver *first = NULL;
    for (size_t i = 0; i < group->count; i++) {
        const struct receiver *receiver = group->receivers[i];
        if (receiver->first_at == 0)
            continue;
        if (receiver->caught_up_at == 0)
            return NULL;
        if (first == NULL || receiver->caught_up_at < first->caught_up_at)
            first = receiver;
    }
    return first;
}

/* From where the first of them had caught up. Of another stream, which was looked at later, as many
 * datagrams may have come before as of that one, or none if they were sent later than those. The
 * whole span if not half of all came after it. */
static struct span timed_span(const struct receiver_group *group, uint64_t received)
{
    struct span whole = whole_span(group), span = whole;
    const struct receiver *first = first_to_catch_up(group);
    if (first == NULL)
        return whole;
    span.begin = first->caught_up_at;
    span.first_sent = first->catch_up_sent;
    span.before = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct receiver *receiver = group->receivers[i];
        if (receiver->first_at > span.begin && receiver->first_sent >= first->catch_up_sent)
            continue;
        span.before += receiver->at_catch_up < first->at_catch_up ? receiver->at_catch_up
                                                                  : first->at_catch_up;
    }
    return span.before <= received / 2 ? span : whole;
}

/* A receiver that gets its CPU late finds a full buffer, and would time how fast it empties it: but
 * datagrams don't come faster than they were sent. */
static double elapsed(const struct receiver_group *group, const struct span *span)
{
    uint64_t sending = span->last_sent - span->first_sent, arriving = span->end - span->begin;
    bool believed = !is_stamped(group->launch) && sending < span->end - group->prepared_at;
    return ns_seconds(believed && sending > arriving ? sending : arriving);
}

static void finish_intervals(struct receiver *receiver)
{
    struct intervals *intervals = &receiver->intervals;
    uint64_t unique = receiver->sequence.unique, sent = receiver->group->sent[receiver->number];
    uint64_t omitted[] = {receiver->omitted.unique,
                          receiver->omitted.next - receiver->omitted.unique};
    if (receiver->last_at == 0)
        begin_intervals(receiver, now_ns());
    uint64_t counts_from = intervals->origin + intervals->omit;
    close_intervals(receiver, receiver->last_at > counts_from ? receiver->last_at : counts_from);
    intervals_finish(intervals, receiver->last_at, (uint64_t[]){unique, sent - unique});
    for (size_t column = 0; column < COLUMNS; column++)
        intervals_raise(intervals, false, column, omitted[column]);
    uint64_t *end = intervals_omitted(intervals);
    if (end)
        memcpy(end, omitted, sizeof omitted);
}

struct intervals *receiver_group_intervals(const struct receiver_group *group)
{
    static struct intervals sum;
    intervals_prepare(&sum, group->launch, group->trial, quantities, COLUMNS);
    for (size_t i = 0; i < group->count; i++) {
        finish_intervals(group->receivers[i]);
        intervals_add(&sum, &group->receivers[i]->intervals);
    }
    return &sum;
}

struct reception receiver_group_done(const struct receiver_group *group, struct usage *usage)
{
    struct reception sum = {.drops_known = true};
    for (size_t i = 0; i < group->count; i++) {
        const struct receiver *receiver = group->receivers[i];
        double drain = ns_seconds(drain_time(receiver));
        add_stream(receiver, &sum);
        add_omitted_part(receiver, &sum, usage);
        sum.drain = drain > sum.drain ? drain : sum.drain;
    }
    if (sum.received == 0)
        fail(NO_DATA, "not one datagram arrived: does a firewall let UDP through?");
    struct span span = timed_span(group, sum.received);
    sum.timed = sum.received - span.before;
    sum.elapsed = elapsed(group, &span);
    return sum;
}
