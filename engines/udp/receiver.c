#include "receiver.h"

#include "counts.h"
#include "drops.h"
#include "header.h"
#include "stamps.h"
#include "timing.h"
#include "waiting.h"

#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"
#include "../lib/sockopts.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/udp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define RECEIVE_BATCH 64 /* datagrams taken in one call */
#define SHORTEST_DRAIN_NS (DRAIN_NS / 4) /* a busy host's kernel may hold packets for so long */
#define SPACE 131072     /* bytes for them; more would not stay in the cache */
#define GRO_SIZE 65536   /* of many datagrams in one piece */
#define LINE 64          /* bytes of a cache */
#define UNFRAGMENTED 1472 /* bytes, by Ethernet and IPv4 */

struct receiver {
    struct receiver_group *group;
    size_t number, size;
    int fd;
    enum header header;
    uint64_t token;
    bool gro, notes; /* the kernel adds notes (control messages) to what arrives */
    size_t slot;            /* bytes, of a message in `space` */
    unsigned int width;     /* taken in one call */
    struct waiting waiting;
    struct counts counts;
    uint64_t omitted_at; /* the first datagram before those that count */
    struct catch_up omitted_first; /* as timing.first, of those; never: what came with that one */
    struct usage omitted_usage;
    struct timing timing;
    uint64_t longest_gap; /* from one arrival to the next */
    _Atomic uint64_t quiet_since;
    struct drops drops;
    struct mmsghdr messages[RECEIVE_BATCH];
    struct iovec parts[RECEIVE_BATCH];
    union {
        struct cmsghdr aligned;
        unsigned char room[CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(int)) +
                           CMSG_SPACE(sizeof(uint32_t))];
    } control[RECEIVE_BATCH];
    _Alignas(4096) unsigned char space[SPACE];
};

/* Each message lies in one piece, as the kernel takes a tenth more for two. With GRO it is many
 * datagrams; without, one, and a byte more shows one that is too long; where it is to truncate
 * them, its header alone. */
static void prepare_messages(struct receiver *receiver)
{
    bool truncates = receiver->waiting.flags & MSG_TRUNC && receiver->size >= PACKET_HEADER;
    size_t room = receiver->gro ? GRO_SIZE : truncates ? PACKET_HEADER : receiver->size + 1;
    receiver->slot = (room + LINE - 1) / LINE * LINE;
    if (receiver->width > SPACE / receiver->slot)
        receiver->width = (unsigned int)(SPACE / receiver->slot);
    for (unsigned int i = 0; i < receiver->width; i++) {
        struct msghdr *message = &receiver->messages[i].msg_hdr;
        receiver->parts[i] = (struct iovec){receiver->space + i * receiver->slot, room};
        *message = (struct msghdr){.msg_iov = &receiver->parts[i], .msg_iovlen = 1};
        if (receiver->notes)
            message->msg_control = receiver->control[i].room;
    }
}

/* Has the kernel add to each message how many it had dropped when that came. */
static void note_drops(const struct receiver *receiver, bool on)
{
    set_option(receiver->fd, SOL_SOCKET, SO_RXQ_OVFL, on, "notes of drops");
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
    receiver->notes = receiver->gro || (group->trace && !by_user) || group->trial->omit > 0;
    /* Where the program stamps them, each has its own time. */
    receiver->width = group->trace && by_user ? 1 : RECEIVE_BATCH;
    waiting_prepare(&receiver->waiting, launch, receiver->fd, receiver->messages);
    receiver->timing = (struct timing){0};
    receiver->omitted_at = receiver->longest_gap = 0;
    receiver->omitted_first = (struct catch_up){0};
    receiver->omitted_usage = (struct usage){0};
    counts_prepare(&receiver->counts, launch, group->trial);
    prepare_messages(receiver);
    while (recv(receiver->fd, scrap, sizeof scrap, MSG_DONTWAIT) >= 0 && now_ns() < limit)
        ;
    note_drops(receiver, group->trial->omit > 0);
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
    (*receiver)->counts.intervals = (struct intervals){0};
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

/* Until nothing more is there: a receiver that gets its CPU late at first finds what came
 * meanwhile, and the path's rate shows only from here on. */
static int catch_up(struct receiver *receiver, unsigned int count, struct catch_up *first,
                    const struct sequence *sequence)
{
    uint64_t asked_at = now_ns();
    int received = receive_now(&receiver->waiting, count);
    if (received < 0 && errno == EAGAIN)
        *first = (struct catch_up){asked_at, sequence->unique, receiver->timing.last_sent};
    return received;
}

static int receive_call(struct receiver *receiver)
{
    /* What comes first comes alone, so that the time starts with exactly that. */
    bool first = receiver->timing.first_at == 0 && receiver->group->trial->omit <= 0;
    unsigned int count = first ? 1 : receiver->width;
    if (receiver->notes)
        for (unsigned int i = 0; i < count; i++)
            receiver->messages[i].msg_hdr.msg_controllen = sizeof receiver->control[i].room;
    bool counts = receiver->timing.first_at > 0;
    struct catch_up *caught_up = counts ? &receiver->timing.first : &receiver->omitted_first;
    if ((counts || receiver->omitted_at) && caught_up->at == 0) {
        int received = catch_up(receiver, count, caught_up,
                                counts ? &receiver->counts.sequence : &receiver->counts.omitted);
        if (received >= 0 || errno != EAGAIN)
            return received;
    }
    return receive_soon(&receiver->waiting, count);
}

/* What the kernel says of a message: how long its datagrams are, when it came, and how many it had
 * dropped by then (none: it says nothing). */
static void read_notes(struct msghdr *message, size_t *step, uint64_t *at, uint32_t *dropped)
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
        } else if (note->cmsg_level == SOL_SOCKET && note->cmsg_type == SO_RXQ_OVFL) {
            memcpy(dropped, CMSG_DATA(note), sizeof *dropped);
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
                                                 receiver->counts.sequence.next, &number))
        return false;
    if (number & OMITTED_FLAG && receiver->group->trial->omit > 0)
        return number - OMITTED_FLAG <= COUNT_LIMIT &&
               sequence_add(&receiver->counts.omitted, number - OMITTED_FLAG);
    if (number > COUNT_LIMIT)
        return false;
    if (receiver->group->trace)
        record(receiver->group, number, packet, at);
    return sequence_add(&receiver->counts.sequence, number);
}

/* The datagrams of one message; the last new one of them, or NULL. */
static const unsigned char *take_message(struct receiver *receiver, unsigned int i, uint64_t at)
{
    size_t length = receiver->messages[i].msg_len, step = length;
    const unsigned char *packet = receiver->space + i * receiver->slot;
    const unsigned char *newest = NULL;
    const struct sequence *counted = &receiver->counts.sequence;
    bool omitted = receiver->group->trial->omit > 0 && counted->unique == 0;
    uint64_t number;
    uint32_t dropped = 0;
    if (receiver->notes)
        read_notes(&receiver->messages[i].msg_hdr, &step, &at, &dropped);
    if (receiver->gro && step == receiver->size &&
        header_read(packet, receiver->header, receiver->token, receiver->counts.sequence.next,
                    &number) &&
        !(number & OMITTED_FLAG))
        drops_note_message(&receiver->drops, number, length / step);
    for (; length > 0; packet += step, length -= step) {
        if (step > length)
            step = length;
        if (take_datagram(receiver, packet, step, at))
            newest = packet;
    }
    if (omitted && counted->unique == 0)
        drops_note_omitted(&receiver->drops, dropped);
    else if (omitted)
        drops_begin_again(&receiver->drops, dropped, counted->next - counted->unique);
    return newest;
}

static void take_messages(struct receiver *receiver, unsigned int count, uint64_t now)
{
    const unsigned char *newest = NULL;
    bool emptied = receiver->timing.first_at && count < receiver->width;
    if (now >= receiver->counts.intervals.next)
        counts_close(&receiver->counts, now);
    for (unsigned int i = 0; i < count; i++) {
        const unsigned char *packet = take_message(receiver, i, now);
        newest = packet ? packet : newest;
    }
    if (newest == NULL)
        return;
    if (receiver->timing.last_at == 0)
        counts_begin(&receiver->counts, &receiver->group->origin, now);
    if (receiver->header == FULL)
        receiver->timing.last_sent = get_be64(newest + 16);
    if (receiver->counts.omitted.unique > 0 && receiver->omitted_at == 0) {
        receiver->omitted_at = now;
        receiver->omitted_first.count = receiver->counts.omitted.unique;
    }
    if (receiver->timing.first_at == 0 && receiver->counts.sequence.unique > 0) {
        if (receiver->group->trial->omit > 0) {
            usage_end(&receiver->omitted_usage);
            receiver->waiting.polled = 0;
            note_drops(receiver, false);
        }
        receiver->timing.first_at = now;
        receiver->timing.first_sent = receiver->timing.last_sent;
        receiver->timing.with_first = receiver->counts.sequence.unique;
        atomic_store(&receiver->group->first_arrived, true);
    } else if (receiver->timing.last_at && now - receiver->timing.last_at > receiver->longest_gap) {
        receiver->longest_gap = now - receiver->timing.last_at;
    }
    timing_arrival(&receiver->timing, now, receiver->counts.sequence.unique, emptied);
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
    while (!sent_known || receiver->counts.sequence.unique < group->sent[receiver->number]) {
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
    const struct sequence *sequence = &receiver->counts.sequence;
    uint64_t drops, sent = receiver->group->sent[receiver->number];
    if (sequence->next > sent)
        fail(BAD_PEER, "a datagram arrived that was never sent");
    sum->received += sequence->unique;
    sum->duplicates += sequence->duplicates;
    sum->reordered += sequence->reordered;
    sum->arrived += sequence->unique + sequence->duplicates + sequence->too_late;
    sum->polled += ns_seconds(receiver->waiting.polled);
    sum->drops_known &= drops_count(&receiver->drops, sent, sent - sequence->unique, &drops);
    sum->drops += drops;
}

static void add_omitted_part(const struct receiver *receiver, struct reception *sum,
                             struct usage *usage)
{
    const struct catch_up *first = &receiver->omitted_first;
    uint64_t first_at = receiver->timing.first_at, unique = receiver->counts.omitted.unique;
    sum->omitted.bytes += (double)(unique * receiver->size);
    if (first_at == 0)
        return;
    uint64_t began = first->at ? first->at : receiver->omitted_at;
    double elapsed = began ? ns_seconds(first_at - began) : 0;
    sum->omitted.timed += (double)((unique - first->count) * receiver->size);
    sum->omitted.elapsed = elapsed > sum->omitted.elapsed ? elapsed : sum->omitted.elapsed;
    omit_usage(usage, &sum->omitted, &receiver->omitted_usage);
}

struct intervals *receiver_group_intervals(const struct receiver_group *group)
{
    static struct intervals sum;
    counts_prepare_sum(&sum, group->launch, group->trial);
    for (size_t i = 0; i < group->count; i++) {
        struct receiver *receiver = group->receivers[i];
        counts_finish(&receiver->counts, &receiver->group->origin, receiver->timing.last_at,
                      group->sent[i]);
        intervals_add(&sum, &receiver->counts.intervals);
    }
    return &sum;
}

struct reception receiver_group_done(const struct receiver_group *group, struct usage *usage)
{
    const struct timing *streams[MAX_THREADS];
    uint64_t received[MAX_THREADS];
    struct reception sum = {.drops_known = true};
    for (size_t i = 0; i < group->count; i++) {
        const struct receiver *receiver = group->receivers[i];
        double drain = ns_seconds(drain_time(receiver));
        streams[i] = &receiver->timing;
        received[i] = receiver->counts.sequence.unique;
        add_stream(receiver, &sum);
        add_omitted_part(receiver, &sum, usage);
        sum.drain = drain > sum.drain ? drain : sum.drain;
    }
    if (sum.received == 0)
        fail(NO_DATA, "not one datagram arrived: does a firewall let UDP through%s?",
             group->receivers[0]->size > UNFRAGMENTED
                 ? ", and does the path carry all fragments of one larger than its MTU" : "");
    struct span span = timed_span(streams, received, group->count);
    sum.timed = sum.received - span.before - span.after;
    sum.elapsed = ns_seconds(span_elapsed(&span, is_stamped(group->launch), group->prepared_at));
    return sum;
}
