/* UDP back and forth: one datagram at a time, each timed by the client. */
#include "udp.h"

#include "../lib/answering.h"
#include "../lib/control.h"
#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/packet.h"
#include "../lib/parameters.h"
#include "../lib/round_trips.h"
#include "../lib/team.h"

#include <errno.h>
#include <string.h>

#define ANSWER_LIMIT_NS NANOSECONDS /* a round trip longer than this is lost */
#define STALL_LOSSES (STALL_NS / ANSWER_LIMIT_NS) /* so many in a row are a failure */
#define LOOK_AT_CLOCK 1024          /* polls without an answer until the clock is read */
#define NAME_SIZE 16                /* token and number, by which an answer is known */

static int receive_flags(const struct launch *launch)
{
    return strcmp(text_of(launch, "poll"), "busy") == 0 ? MSG_DONTWAIT : 0;
}

/* What distinguishes a datagram: the token and its number. If it has no room for both,
 * as many bytes as it has room for, up to 8, of a number that begins anywhere, the lowest byte
 * first: so an answer that comes too late is never taken for that of the next ones. */
static void name_datagram(unsigned char *packet, size_t size, uint64_t token, uint64_t number)
{
    uint64_t name = htole64(token + number);
    if (size >= PACKET_HEADER) {
        put_be64(packet, token);
        packet_stamp(packet, number, 0);
    } else {
        memcpy(packet, &name, size < sizeof name ? size : sizeof name);
    }
}

/* The client's part of one thread. */
struct requester {
    struct client *client;
    const struct trial *trial;
    size_t number, size, named;
    int fd, flags;
    _Alignas(4096) unsigned char packet[LARGEST];
    _Alignas(4096) unsigned char answer[LARGEST + 1];
    struct round_trips trips;
};

/* Has a signal end the call that waits for the present datagram's echo. Set again only when it
 * came: it is that of an earlier datagram, mostly. */
static void limit_waiting(const struct requester *a)
{
    if (a->flags == 0)
        interrupt_calls(a->trips.sent_at + ANSWER_LIMIT_NS);
}

/* Waits for the present datagram's echo; returns its arrival, 0 if it did not come in time. What
 * lies there when that is over did: this thread was without its CPU. */
static uint64_t wait_for_echo(struct requester *a)
{
    uint64_t late_since = 0;
    for (unsigned int polls = 1;; polls++) {
        int flags = late_since ? MSG_DONTWAIT : a->flags;
        ssize_t length = recv(a->fd, a->answer, a->size + 1, flags);
        if (length == (ssize_t)a->size && memcmp(a->answer, a->packet, a->named) == 0)
            return now_ns();
        if (length < 0 && errno != EAGAIN && errno != EINTR)
            datagrams_failed(a->client->control, errno);
        if (a->flags && polls % LOOK_AT_CLOCK != 0)
            continue;
        uint64_t now = now_ns();
        if (late_since && (length < 0 || now - late_since > DRAIN_NS))
            return 0;
        if (now < a->trips.sent_at + ANSWER_LIMIT_NS)
            limit_waiting(a);
        else if (late_since == 0)
            late_since = now;
    }
}

static void forget_earlier_answers(struct requester *a)
{
    uint64_t limit = now_ns() + DRAIN_NS;
    while (recv(a->fd, a->answer, 1, MSG_DONTWAIT) >= 0 && now_ns() < limit)
        ;
}

static void note_loss(struct requester *a, uint64_t in_a_row)
{
    a->trips.lost++;
    if (!control_alive(a->client->control))
        fail(PEER_LOST, "the server died or hung up");
    if (in_a_row < STALL_LOSSES)
        return;
    if (a->trips.times.count > 0)
        fail(NO_ANSWER, "none of %llu datagrams came back within 1 s, after %llu that did",
             (unsigned long long)in_a_row, (unsigned long long)a->trips.times.count);
    fail(NO_DATA, "none of %llu datagrams came back within 1 s", (unsigned long long)a->trips.lost);
}

static void request(struct requester *a)
{
    name_datagram(a->packet, a->size, a->trial->token, a->trips.started);
    if (send(a->fd, a->packet, a->size, 0) < 0 && errno != ENOBUFS && errno != EAGAIN &&
        errno != EINTR)
        datagrams_failed(a->client->control, errno);
}

static void request_repeatedly(void *share)
{
    struct requester *a = share;
    struct round_trips *trips = &a->trips;
    forget_earlier_answers(a);
    /* The first one finds the server's thread still starting and the path's caches empty: as TCP's,
     * it is in no figure, even if it is lost. */
    trips->started = 0;
    trips->sent_at = now_ns();
    limit_waiting(a);
    request(a);
    wait_for_echo(a);
    uint64_t now = round_trips_begin(trips, a->client->launch, a->trial, a->number);
    uint64_t losses = 0; /* in a row */
    while (round_trips_next(trips, now)) {
        request(a);
        round_trips_sent(trips);
        uint64_t arrived = wait_for_echo(a);
        if (arrived) {
            round_trips_back(trips, arrived);
            now = arrived;
            losses = 0;
        } else {
            note_loss(a, ++losses);
            now = now_ns();
        }
    }
    interrupt_calls(0);
    round_trips_sent(trips);
    if (trips->started > 0 && trips->times.count == 0)
        fail(NO_DATA, "none of %llu datagrams came back within 1 s",
             (unsigned long long)trips->lost);
}

/* Kept: a launch has one size. */
static struct requester *requesters[MAX_THREADS];

static void make_requester(void *share)
{
    struct requester **requester = share;
    *requester = (struct requester *)(void *)test_buffer(sizeof **requester);
    histogram_open(&(*requester)->trips.times);
}

static struct requester *set_requester(struct client *client, const struct trial *trial,
                                       size_t number)
{
    size_t size = size_of(client->launch, "datagram");
    struct requester *a = requesters[number];
    a->client = client;
    a->trial = trial;
    a->number = number;
    a->size = size;
    a->named = size < NAME_SIZE ? size : NAME_SIZE;
    a->fd = client->fds[number];
    a->flags = receive_flags(client->launch);
    trace_round_trips(&a->trips, client->launch, trial);
    return a;
}

static void measure(struct client *client, const struct trial *trial, struct fields *end,
                    struct result *result)
{
    struct task tasks[MAX_THREADS];
    const struct round_trips *trips[MAX_THREADS];
    struct requester *requester[MAX_THREADS];
    size_t threads = size_of(client->launch, "threads");
    uint64_t lost = 0, sent = 0;
    for (size_t i = 0; i < threads; i++)
        tasks[i] = (struct task){make_requester, &requesters[i], (int)i};
    if (requesters[0] == NULL)
        team_prepare(client->launch, false, tasks, threads);
    for (size_t i = 0; i < threads; i++) {
        requester[i] = set_requester(client, trial, i);
        trips[i] = &requester[i]->trips;
        tasks[i] = (struct task){request_repeatedly, requester[i], (int)i};
    }
    struct usage usage = team_run(client->launch, false, tasks, threads);
    for (size_t i = 0; i < threads; i++) {
        lost += trips[i]->lost;
        sent += trips[i]->started;
    }
    result_set_usage(result, "client", &usage);
    result_set(result, "lost_packets", (double)lost);
    result_set(result, "loss_rate", (double)lost / (double)sent);
    result_set_round_trips(result, client->launch, trips, threads);
    fields_add_number(end, "sent", (double)sent);
}

static void fetch(struct client *client, const struct trial *trial, const struct fields *reply,
                  struct result *result)
{
    (void)reply;
    (void)result;
    report_round_trips(&requesters[0]->trips, client->launch, trial);
}

/* One each, for a session, which is a process. */
static unsigned char *echoed[MAX_THREADS];

static void echo(void *share)
{
    struct answerer *a = share;
    size_t size = size_of(&a->session->launch, "datagram");
    int flags = receive_flags(&a->session->launch);
    allow_interrupts();
    unsigned char *data = echoed[a->number];
    for (;;) {
        ssize_t length = recv(a->fd, data, size + 1, flags);
        if (length == (ssize_t)size &&
            (size < PACKET_HEADER || get_be64(data) == a->trial->token)) {
            send(a->fd, data, size, 0); /* one that fails is lost, as the client sees */
            answering_count(a);
        } else if (answering_over(a)) {
            break;
        }
    }
}

static void make_echoed(void *share)
{
    *(unsigned char **)share = test_buffer(LARGEST + 1);
}

static void prepare(struct session *session, const struct trial *trial)
{
    struct task tasks[MAX_THREADS];
    size_t threads = size_of(&session->launch, "threads");
    for (size_t i = 0; i < threads; i++)
        tasks[i] = (struct task){make_echoed, &echoed[i], (int)i};
    if (echoed[0] == NULL)
        team_prepare(&session->launch, true, tasks, threads);
    answering_start(session, trial, echo, session->fds, threads, threads);
}

static void serve(struct session *session, const struct trial *trial, struct fields *reply)
{
    answering_finish(session, trial, reply);
}

const struct udp_mode udp_latency = {
    .name = "latency",
    .echoed = true,
    .open = open_udp_client,
    .measure = measure,
    .fetch = fetch,
    .prepare = prepare,
    .serve = serve,
};
