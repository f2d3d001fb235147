/* TCP back and forth: one message at a time, each timed by the client. */
#include "tcp.h"

#include "../lib/failure.h"
#include "../lib/histogram.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"

#include <errno.h>

static void send_all(int fd, int control, const unsigned char *data, size_t size, size_t chunk)
{
    uint64_t since = 0;
    for (size_t sent = 0; sent < size;) {
        size_t left = size - sent;
        ssize_t step = send(fd, data + sent, chunk < left ? chunk : left, MSG_NOSIGNAL);
        if (step > 0) {
            sent += (size_t)step;
            since = 0;
            continue;
        }
        int error = errno;
        since = since ? since : now_ns();
        stalled(control, error, since, "send");
    }
}

/* Returns what arrived: all, or less if the other end closed. */
static size_t receive_all(int fd, int control, unsigned char *data, size_t size, size_t chunk)
{
    uint64_t since = 0;
    size_t got = 0;
    while (got < size) {
        size_t left = size - got;
        ssize_t step = recv(fd, data + got, chunk < left ? chunk : left, 0);
        if (step == 0)
            break;
        if (step > 0) {
            got += (size_t)step;
            since = 0;
            continue;
        }
        int error = errno;
        since = since ? since : now_ns();
        stalled(control, error, since, "receive");
    }
    return got;
}

/* A latency test's message and how it is cut. */
struct exchange {
    size_t size, write, read;
    unsigned char *data;
};

static struct exchange exchange_of(const struct launch *launch)
{
    static unsigned char *data; /* kept: a launch has one size */
    struct exchange exchange = {.size = size_of(launch, "message"),
                                .write = size_of(launch, "write"),
                                .read = size_of(launch, "read")};
    if (exchange.write == 0)
        exchange.write = exchange.size;
    if (exchange.read == 0)
        exchange.read = exchange.size;
    if (data == NULL)
        data = test_buffer(exchange.size);
    exchange.data = data;
    return exchange;
}

void measure_tcp_round_trips(struct client *client, const struct trial *trial, struct fields *end,
                             struct result *result)
{
    static struct histogram times;
    struct exchange x = exchange_of(client->launch);
    struct usage usage;
    histogram_clear(&times);
    usage_begin(&usage);
    uint64_t now = now_ns(), stop = now + seconds_ns(trial->duration);
    while (trial->count ? times.count < trial->count : now < stop) {
        uint64_t sent_at = now_ns();
        send_all(client->fds[0], client->control, x.data, x.size, x.write);
        size_t got = receive_all(client->fds[0], client->control, x.data, x.size, x.read);
        now = now_ns();
        if (got < x.size)
            stalled(client->control, EPIPE, now, "receive");
        histogram_add(&times, now - sent_at);
    }
    usage_end(&usage);
    shutdown(client->fds[0], SHUT_WR);
    result_set_usage(result, "client", &usage);
    result_set_round_trips(result, &times);
    fields_add_number(end, "sent", (double)times.count);
}

void prepare_tcp_echo(const struct session *session)
{
    exchange_of(&session->launch);
}

void echo_messages(struct session *session, const struct trial *trial, int fd, struct fields *reply)
{
    struct exchange x = exchange_of(&session->launch);
    uint64_t limit = trial_limit(trial, GRACE_SECONDS), echoed = 0;
    struct usage usage;
    usage_begin(&usage);
    for (;;) {
        size_t got = receive_all(fd, session->control, x.data, x.size, x.read);
        if (got == 0)
            break;
        if (got < x.size)
            fail(SHORT_COUNT, "the client closed in the middle of a message");
        send_all(fd, session->control, x.data, x.size, x.write);
        echoed++;
        if (now_ns() > limit)
            fail(NO_ANSWER, "the client did not end in time");
    }
    usage_end(&usage);
    add_usage(reply, &usage);
    fields_add_number(reply, "echoed", (double)echoed);
}
