/* TCP back and forth: one message at a time, each timed by the client. */
#include "tcp.h"

#include "../lib/answering.h"
#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"
#include "../lib/round_trips.h"
#include "../lib/team.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#define LOOK_AROUND 1024   /* polls in vain until anything else is looked at */
#define WAIT_MS 100        /* for a socket that doesn't block */

/* A connection, its message and how that is cut. */
struct exchange {
    int fd, flags;
    bool nonblocking;
    size_t size, write, read;
    unsigned char *data;
    int control;                       /* the client's, which fails when nothing moves */
    const struct answerer *answerer;   /* the server's, which ends at the client's END; or NULL */
    unsigned int polls;
    uint64_t stuck_since; /* 0: it isn't */
    bool broken;          /* the connection, or at the server the client's END came */
};

/* Has a signal end the call in which the client waits, a second from now. */
static void limit_waiting(const struct exchange *x)
{
    if (x->flags == 0 && !x->nonblocking)
        interrupt_calls(now_ns() + NANOSECONDS);
}

/* Nothing could be sent or received just now: true if it is to be tried again. */
static bool try_again(struct exchange *x, int error, short events)
{
    bool nothing_yet = error == EAGAIN || error == EINTR;
    if (nothing_yet && x->flags && ++x->polls % LOOK_AROUND != 0)
        return true;
    if (nothing_yet && x->nonblocking && !x->flags) {
        struct pollfd poll_entry = {.fd = x->fd, .events = events};
        if (poll(&poll_entry, 1, WAIT_MS) > 0)
            return true;
    }
    if (x->answerer) {
        x->broken = !nothing_yet || answering_over(x->answerer);
        return !x->broken;
    }
    if (x->stuck_since == 0)
        x->stuck_since = now_ns();
    handle_stall(x->control, nothing_yet ? EAGAIN : error, x->stuck_since,
                 events == POLLIN ? "receive" : "send");
    limit_waiting(x);
    return true;
}

static void send_all(struct exchange *x)
{
    for (size_t sent = 0; sent < x->size;) {
        size_t left = x->size - sent;
        ssize_t step =
            send(x->fd, x->data + sent, x->write < left ? x->write : left, MSG_NOSIGNAL);
        if (step > 0) {
            sent += (size_t)step;
            x->stuck_since = 0;
        } else if (!try_again(x, errno, POLLOUT)) {
            break;
        }
    }
}

/* Returns what arrived: all, or less if the other end closed. */
static size_t receive_all(struct exchange *x)
{
    size_t received = 0;
    while (received < x->size) {
        size_t left = x->size - received;
        ssize_t step = recv(x->fd, x->data + received, x->read < left ? x->read : left, x->flags);
        if (step > 0) {
            received += (size_t)step;
            x->stuck_since = 0;
        } else if (step == 0 || !try_again(x, errno, POLLIN)) {
            break;
        }
    }
    return received;
}

static void set_exchange(struct exchange *x, const struct launch *launch, int fd)
{
    x->size = size_of(launch, "message");
    x->write = size_of(launch, "write") ? size_of(launch, "write") : x->size;
    x->read = size_of(launch, "read") ? size_of(launch, "read") : x->size;
    x->fd = fd;
    x->flags = strcmp(text_of(launch, "poll"), "busy") == 0 ? MSG_DONTWAIT : 0;
    x->nonblocking = fd >= 0 && fcntl(fd, F_GETFL) & O_NONBLOCK;
    x->stuck_since = 0;
    x->broken = false;
}

/* Kept: a launch has one size. */
static void make_data(void *share)
{
    struct exchange *x = share;
    if (x->data == NULL)
        x->data = test_buffer(x->size);
}

/* The client's part of one thread. */
struct requester {
    struct exchange exchange;
    struct client *client;
    const struct trial *trial;
    size_t number;
    struct round_trips trips;
};

static void receive_answer(struct exchange *x)
{
    if (receive_all(x) < x->size)
        handle_stall(x->control, EPIPE, now_ns(), "receive");
}

static void request_repeatedly(void *share)
{
    struct requester *a = share;
    struct exchange *x = &a->exchange;
    struct round_trips *trips = &a->trips;
    /* The first message finds the server's thread still starting: it is not timed. */
    limit_waiting(x);
    send_all(x);
    receive_answer(x);
    uint64_t now = round_trips_begin(trips, a->client->launch, a->trial, a->number);
    while (round_trips_next(trips, now)) {
        send_all(x);
        round_trips_sent(trips);
        receive_answer(x);
        now = now_ns();
        round_trips_back(trips, now);
    }
    interrupt_calls(0);
    round_trips_sent(trips);
    shutdown(x->fd, SHUT_WR);
}

static struct requester *requesters[MAX_THREADS];

static struct requester *make_requester(struct client *client, const struct trial *trial,
                                        size_t number)
{
    struct requester *a = requesters[number];
    if (a == NULL) {
        a = requesters[number] = (struct requester *)test_buffer(sizeof *a);
        memset(a, 0, sizeof *a);
    }
    set_exchange(&a->exchange, client->launch, client->fds[number]);
    a->exchange.control = client->control;
    a->client = client;
    a->trial = trial;
    a->number = number;
    trace_round_trips(&a->trips, client->launch, trial);
    return a;
}

static void measure(struct client *client, const struct trial *trial, struct fields *end,
                    struct result *result)
{
    struct task tasks[MAX_THREADS];
    const struct round_trips *trips[MAX_THREADS];
    size_t threads = size_of(client->launch, "threads");
    must_fit(threads, size_of(client->launch, "message"));
    for (size_t i = 0; i < threads; i++)
        tasks[i] = (struct task){make_data, &make_requester(client, trial, i)->exchange, (int)i};
    team_prepare(client->launch, false, tasks, threads);
    for (size_t i = 0; i < threads; i++) {
        trips[i] = &requesters[i]->trips;
        tasks[i] = (struct task){request_repeatedly, requesters[i], (int)i};
    }
    struct usage usage = team_run(client->launch, false, tasks, threads);
    result_set_usage(result, "client", &usage);
    result_set_round_trips(result, client->launch, trips, threads);
    fields_add_number(end, "sent", result_get(result, "round_trips") + (double)threads);
}

static void finish(struct client *client, const struct fields *reply, struct result *result)
{
    double untimed = number_of(client->launch, "threads");
    uint64_t back = (uint64_t)(result_get(result, "round_trips") + untimed);
    if (fields_count(reply, "echoed", BYTES_LIMIT) != back)
        fail(SHORT_COUNT, "the server echoed another number of messages than came back");
}

static void fetch(struct client *client, const struct trial *trial, const struct fields *reply,
                  const struct result *result)
{
    (void)reply;
    (void)result;
    report_round_trips(&requesters[0]->trips, client->launch, trial);
}

/* One for each thread of a session, which is a process. */
static struct exchange echoes[MAX_THREADS];

static void prepare(struct session *session, const struct trial *trial)
{
    (void)trial;
    struct task tasks[MAX_THREADS];
    size_t threads = size_of(&session->launch, "threads");
    must_fit(threads, size_of(&session->launch, "message"));
    for (size_t i = 0; i < threads; i++) {
        set_exchange(&echoes[i], &session->launch, -1);
        tasks[i] = (struct task){make_data, &echoes[i], (int)i};
    }
    team_prepare(&session->launch, true, tasks, threads);
}

static void echo(void *share)
{
    struct answerer *a = share;
    struct exchange *x = &echoes[a->number];
    set_exchange(x, &a->session->launch, a->fd);
    x->answerer = a;
    allow_interrupts();
    for (;;) {
        size_t received = receive_all(x);
        if (received < x->size && received > 0 && !x->broken)
            fail(SHORT_COUNT, "the client closed in the middle of a message");
        if (received < x->size)
            break;
        answering_count(a);
        send_all(x);
    }
}

static void serve(struct session *session, const struct trial *trial, const int fds[],
                  struct fields *reply)
{
    size_t threads = size_of(&session->launch, "threads");
    answering_start(session, trial, echo, fds, threads, threads);
    fields_add_number(reply, "echoed", (double)answering_finish(session, trial, reply));
}

const struct tcp_mode tcp_latency = {
    .name = "latency",
    .echoed = true,
    .measure = measure,
    .finish = finish,
    .fetch = fetch,
    .prepare = prepare,
    .serve = serve,
};
