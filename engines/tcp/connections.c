#include "connections.h"

#include "tcp.h"

#include "../lib/congestion.h"
#include "../lib/control.h"
#include "../lib/failure.h"
#include "../lib/packet.h"
#include "../lib/parameters.h"
#include "../lib/round_trips.h"
#include "../lib/sockopts.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define GREETING 16 /* what a data connection begins with, both ways: token and index */
#define BACKLOG 128

size_t connections_of(const struct launch *launch)
{
    return tcp_mode_of(launch)->connects ? 0 : size_of(launch, "threads");
}

void prepare_connection(int fd, int family, const struct launch *launch, bool server)
{
    struct fields ignored; /* read back from the connection itself, by add_granted */
    fields_clear(&ignored);
    set_buffers(fd, buffers_of(launch, server), &ignored);
    set_tos(fd, family, int_of(launch, "tos"), &ignored);
    set_congestion(fd, text_of(launch, "congestion"));
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, int_of(launch, "nodelay"), "nodelay");
    if (int_of(launch, "mss") > 0)
        set_option(fd, IPPROTO_TCP, TCP_MAXSEG, int_of(launch, "mss"), "mss");
    if (tcp_mode_of(launch)->echoed)
        set_busy_poll(fd, launch, &ignored);
}

/* Corked and uncorked again for the reader of the settings. */
static bool takes_cork(int fd, const struct launch *launch)
{
    if (!int_of(launch, "cork"))
        return false;
    set_option(fd, IPPROTO_TCP, TCP_CORK, 1, "cork");
    bool corked = get_option(fd, IPPROTO_TCP, TCP_CORK) != 0;
    set_option(fd, IPPROTO_TCP, TCP_CORK, 0, "cork");
    return corked;
}

/* Not before: of a socket that isn't connected it would limit the window's scale. */
static void set_lowat(int fd, int requested)
{
    set_option(fd, SOL_SOCKET, SO_RCVLOWAT, requested, "rcvlowat");
    int granted = get_option(fd, SOL_SOCKET, SO_RCVLOWAT);
    if (granted < requested)
        fail(BAD_PARAMETER, "rcvlowat: the kernel grants %d of %d bytes, half of what the receive "
             "buffer may grow to: ask for less, for a larger rcvbuf, or raise net.ipv4.tcp_rmem",
             granted, requested);
}

/* The greeting's waits were others. */
static void end_greeting(int fd, const struct launch *launch)
{
    struct fields ignored; /* read back by add_granted */
    int lowat = (int)number_in_effect(launch, "rcvlowat");
    fields_clear(&ignored);
    set_timeouts(fd, 1);
    choose_waiting(fd, launch, &ignored);
    if (tcp_mode_of(launch)->echoed)
        wait_without_limit(fd);
    if (lowat > 1)
        set_lowat(fd, lowat);
}

void add_granted(int fd, const struct launch *launch, bool server, struct fields *settings)
{
    struct address own = local_address(fd);
    set_buffers(fd, buffers_of(launch, server), settings);
    set_tos(fd, own.any.sa_family, int_of(launch, "tos"), settings);
    add_congestion(fd, settings);
    fields_add(settings, "nodelay", get_option(fd, IPPROTO_TCP, TCP_NODELAY) ? "true" : "false");
    fields_add(settings, "cork", takes_cork(fd, launch) ? "true" : "false");
    choose_waiting(fd, launch, settings);
    fields_add_number(settings, "mss", get_option(fd, IPPROTO_TCP, TCP_MAXSEG));
    if (tcp_mode_of(launch)->echoed)
        set_busy_poll(fd, launch, settings);
    add_place(fd, settings);
}

int listen_for_data(const struct session *session, struct fields *settings)
{
    struct address address = session->local;
    int on = 1, fd = open_socket(address.any.sa_family, SOCK_STREAM);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    prepare_connection(fd, address.any.sa_family, &session->launch, true);
    address_set_port(&address, int_of(&session->launch, "data_port"));
    bind_socket(fd, &address);
    if (listen(fd, BACKLOG) != 0)
        fail(errno == EADDRINUSE ? PORT_IN_USE : SYSTEM_ERROR, "cannot listen on port %d: %s",
             address_port(&address), strerror(errno));
    address = local_address(fd);
    add_ports(settings, "ports", (int[MAX_THREADS]){address_port(&address)});
    return fd;
}

/* False if no whole greeting comes within the socket's time, which a stop and SIGCONT interrupt
 * (signal(7)). */
static bool receive_greeting(int fd, unsigned char greeting[GREETING])
{
    ssize_t length;
    do
        length = recv(fd, greeting, GREETING, MSG_WAITALL);
    while (length < 0 && errno == EINTR);
    return length == GREETING;
}

int connect_data(struct client *client, const struct trial *trial, size_t index)
{
    unsigned char greeting[GREETING], answer[GREETING];
    int family = client->server.any.sa_family;
    int fd = open_socket(family, SOCK_STREAM);
    prepare_connection(fd, family, client->launch, false);
    int error = connect_socket(fd, &client->server);
    if (error && !control_alive(client->control))
        fail(PEER_LOST, "the server died or hung up");
    if (error)
        connect_failed(error, &client->server, TEST_PORT_ADVICE);
    set_timeouts(fd, ANSWER_SECONDS);
    put_be64(greeting, trial->token);
    put_be64(greeting + 8, index);
    if (send(fd, greeting, sizeof greeting, MSG_NOSIGNAL) != sizeof greeting ||
        !receive_greeting(fd, answer) || memcmp(greeting, answer, sizeof greeting) != 0)
        fail(PEER_LOST, "the server did not take up the test connection");
    end_greeting(fd, client->launch);
    return fd;
}

void connect_all(struct client *client, const struct trial *trial, size_t count)
{
    for (size_t i = 0; i < count; i++)
        client->fds[i] = connect_data(client, trial, i);
}

void close_all(int fds[MAX_THREADS])
{
    for (size_t i = 0; i < MAX_THREADS; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

/* Connections that have yet to say all that they begin with; the oldest comes first. */
struct guests {
    size_t count, most;
    int fds[MAX_THREADS];
};

/* Returns the connection, which is none of them any more. */
static int take_out(struct guests *guests, size_t index)
{
    int fd = guests->fds[index];
    guests->count--;
    memmove(&guests->fds[index], &guests->fds[index + 1],
            (guests->count - index) * sizeof *guests->fds);
    return fd;
}

/* As on the control channel: of more than the server allows, the oldest is closed. */
static void admit(const struct session *session, struct guests *guests)
{
    struct address from = {.length = sizeof from.space};
    int fd = accept4(session->fds[0], &from.any, &from.length, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (!same_host(&from, &session->peer)) {
        close(fd);
        return;
    }
    if (guests->count == guests->most)
        close(take_out(guests, 0));
    set_option(fd, SOL_SOCKET, SO_RCVLOWAT, GREETING, "rcvlowat"); /* readable once all is there */
    guests->fds[guests->count++] = fd;
}

/* Takes what a connection has to say; true if it is one of those that are still missing. */
static bool take_greeting(const struct session *session, const struct trial *trial, int fd,
                          int fds[MAX_THREADS], size_t count)
{
    unsigned char greeting[GREETING];
    bool ours = recv(fd, greeting, GREETING, MSG_DONTWAIT) == GREETING &&
                get_be64(greeting) == trial->token;
    uint64_t index = ours ? get_be64(greeting + 8) : MAX_THREADS;
    if (index >= count || fds[index] >= 0 ||
        send(fd, greeting, GREETING, MSG_NOSIGNAL) != GREETING) {
        close(fd);
        return false;
    }
    set_option(fd, SOL_SOCKET, SO_RCVLOWAT, 1, "rcvlowat");
    end_greeting(fd, &session->launch);
    fds[index] = fd;
    return true;
}

/* Waits for something to happen, until that moment at most; returns how many of the missing
 * connections have come. */
static size_t await_greetings(struct session *session, const struct trial *trial,
                              struct guests *guests, uint64_t limit, int fds[MAX_THREADS],
                              size_t count)
{
    enum { CONTROL, LISTENING, OTHERS };
    struct pollfd poll_set[OTHERS + MAX_THREADS] = {
        [CONTROL] = {.fd = session->control, .events = POLLIN},
        [LISTENING] = {.fd = session->fds[0], .events = POLLIN},
    };
    size_t accepted = 0;
    uint64_t now = now_ns(), left_ms = now < limit ? (limit - now) / 1000000 + 1 : 0;
    for (size_t i = 0; i < guests->count; i++)
        poll_set[OTHERS + i] = (struct pollfd){.fd = guests->fds[i], .events = POLLIN};
    if (poll(poll_set, OTHERS + guests->count, (int)left_ms) == 0 && now >= limit)
        fail(NO_ANSWER, "the client did not connect to the test port");
    for (size_t i = guests->count; i-- > 0;) /* those behind move up */
        if (poll_set[OTHERS + i].revents)
            accepted += take_greeting(session, trial, take_out(guests, i), fds, count);
    if (poll_set[LISTENING].revents)
        admit(session, guests);
    if (poll_set[CONTROL].revents && accepted == 0 && session_end_arrived(session))
        fail(BAD_PEER, "the client ended a test it had not begun");
    return accepted;
}

void accept_all(struct session *session, const struct trial *trial, int fds[MAX_THREADS],
                size_t count)
{
    struct guests guests = {.most = (size_t)session->launch.limits[LIMIT_CONNECTIONS]};
    uint64_t limit = now_ns() + seconds_ns(ANSWER_SECONDS); /* from one connection to the next */
    for (size_t i = 0; i < MAX_THREADS; i++)
        fds[i] = -1;
    for (size_t accepted = 0, more; accepted < count; accepted += more) {
        more = await_greetings(session, trial, &guests, limit, fds, count);
        if (more)
            limit = now_ns() + seconds_ns(ANSWER_SECONDS);
    }
    while (guests.count > 0)
        close(take_out(&guests, 0));
}
