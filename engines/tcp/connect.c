/* TCP connections made and ended, one after the other, with nothing in them. The server closes
 * first, so that it is the server's ports that stay in TIME_WAIT and not the client's. */
#include "tcp.h"

#include "connections.h"

#include "../lib/answering.h"
#include "../lib/control.h"
#include "../lib/failure.h"
#include "../lib/histogram.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"
#include "../lib/sockopts.h"
#include "../lib/team.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define ACCEPT_SECONDS 0.01 /* without a connection, until a thread looks whether it is over */

/* The client's part of one thread. */
struct connector {
    struct client *client;
    const struct trial *trial;
    size_t number;
    struct histogram times;
};

static _Noreturn void connecting_failed(const struct client *client, int error)
{
    if (error == EADDRNOTAVAIL)
        connect_failed(error, &client->server, TEST_PORT_ADVICE);
    /* The server's end may be on its way over the control channel. */
    if (wait_readable(client->control, now_ns() + NANOSECONDS / 5))
        handle_stall(client->control, error, now_ns(), "connect for");
    connect_failed(error == EINPROGRESS || error == EAGAIN ? ETIMEDOUT : error, &client->server,
                   TEST_PORT_ADVICE);
}

/* Waits until the server has closed the connection. */
static void wait_for_close(const struct client *client, int fd)
{
    char byte;
    ssize_t length;
    uint64_t since = now_ns();
    while ((length = recv(fd, &byte, 1, 0)) != 0) {
        if (length > 0)
            fail(BAD_PEER, "data came on a connection that was to carry none");
        handle_stall(client->control, errno, since, "receive");
    }
}

/* Only what makes a connection another one: each option costs a call, and what concerns data has
 * nothing to do here. */
static void set_options(int fd, const struct launch *launch, int family)
{
    struct buffers buffers = buffers_of(launch, false);
    if (buffers.send > 0 || buffers.receive > 0 || int_of(launch, "mss") > 0 ||
        int_of(launch, "tos") > 0)
        prepare_connection(fd, family, launch, false);
    set_timeouts(fd, ANSWER_SECONDS);
}

/* One connection; returns when it was made. */
static uint64_t connect_once(struct connector *c)
{
    const struct address *server = &c->client->server;
    int fd = open_socket(server->any.sa_family, SOCK_STREAM);
    set_options(fd, c->client->launch, server->any.sa_family);
    uint64_t began = now_ns();
    int error = connect(fd, &server->any, server->length) == 0 ? 0 : errno;
    if (error == EINTR)
        error = await_connection(fd);
    if (error)
        connecting_failed(c->client, error);
    uint64_t now = now_ns();
    wait_for_close(c->client, fd);
    close(fd);
    histogram_add(&c->times, now - began);
    return now;
}

static void connect_repeatedly(void *share)
{
    struct connector *c = share;
    bool by_count = c->trial->count > 0;
    uint64_t to_do = share_of_count(c->client->launch, c->trial, c->number);
    uint64_t now = now_ns(), stop = now + seconds_ns(c->trial->duration);
    while (by_count ? c->times.count < to_do : now < stop)
        now = connect_once(c);
}

static void measure(struct client *client, const struct trial *trial, struct fields *end,
                    struct result *result)
{
    static struct connector *connectors[MAX_THREADS];
    static struct histogram times;
    struct task tasks[MAX_THREADS];
    size_t threads = size_of(client->launch, "threads");
    for (size_t i = 0; i < threads; i++) {
        if (connectors[i] == NULL) {
            connectors[i] = (struct connector *)test_buffer(sizeof **connectors);
            histogram_open(&connectors[i]->times);
        }
        histogram_clear(&connectors[i]->times);
        connectors[i]->client = client;
        connectors[i]->trial = trial;
        connectors[i]->number = i;
        tasks[i] = (struct task){connect_repeatedly, connectors[i], (int)i};
    }
    struct usage usage = team_run(client->launch, false, tasks, threads);
    histogram_clear(&times);
    for (size_t i = 0; i < threads; i++)
        histogram_merge(&times, &connectors[i]->times);
    result_set_usage(result, "client", &usage);
    result_set(result, "connections", (double)times.count);
    result_set(result, "connection_rate", (double)times.count / usage.elapsed);
    result_set_times(result, "connect", &times);
    fields_add_number(end, "connections", (double)times.count);
}

static void finish(struct client *client, const struct fields *reply, struct result *result)
{
    (void)client;
    uint64_t accepted = fields_count(reply, "accepted", BYTES_LIMIT);
    if ((double)accepted != result_get(result, "connections"))
        fail(SHORT_COUNT, "the server accepted %llu connections, this end made %.0f",
             (unsigned long long)accepted, result_get(result, "connections"));
}

static void accept_and_close(void *share)
{
    struct answerer *a = share;
    for (;;) {
        struct address from = {.length = sizeof from.space};
        int fd = accept4(a->fd, &from.any, &from.length, SOCK_CLOEXEC);
        if (fd >= 0) {
            close(fd);
            if (same_host(&from, &a->session->peer))
                answering_count(a);
        } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
            fail(SYSTEM_ERROR, "cannot accept a connection: %s", strerror(errno));
        } else if (answering_over(a)) {
            break;
        }
    }
}

static void prepare(struct session *session, const struct trial *trial)
{
    if (is_probe(trial))
        return;
    set_timeouts(session->fds[0], ACCEPT_SECONDS);
    answering_start(session, trial, accept_and_close, session->fds, 1,
                    size_of(&session->launch, "threads"));
}

static void serve(struct session *session, const struct trial *trial, const int fds[],
                  struct fields *reply)
{
    (void)fds;
    fields_add_number(reply, "accepted", (double)answering_finish(session, trial, reply));
}

const struct tcp_mode tcp_connect = {
    .name = "connect",
    .connects = true,
    .measure = measure,
    .finish = finish,
    .prepare = prepare,
    .serve = serve,
};
