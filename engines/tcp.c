/* rail-tcp: TCP stream throughput and round-trip latency. The tests themselves are in tcp/. */
#include "tcp/tcp.h"

#include "lib/congestion.h"
#include "lib/control.h"
#include "lib/engine.h"
#include "lib/failure.h"
#include "lib/packet.h"
#include "lib/parameters.h"
#include "lib/place.h"
#include "lib/sides.h"
#include "lib/sockopts.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#define TOKEN_SIZE 8 /* what a data connection begins with, both ways */

static const struct parameter parameters[] = {
    {"mode", CHOICE, "stream", 0, 0, "stream|latency", NULL, "tcptest -a, -i: latency",
     "stream: the client sends as fast as it can; latency: one message back and forth"},
    {"ip", CHOICE, "any", 0, 0, "any|4|6", NULL, NULL, "IP version; any: what the name gives"},
    {"duration", TIME, "5", 0.01, 86400, NULL, NULL, "tcptest -t", "length of a replication"},
    {"count", INT, "0", 0, 1e12, NULL, NULL, "tcptest -I",
     "messages (stream) or round trips (latency) to do instead of duration; 0: by duration"},
    {"message", SIZE, "65536", 1, 1 << 30, NULL, NULL, "tcptest -m, -A; zcc's file size",
     "size of each message; for latency something small, such as 64"},
    {"write", SIZE, "0", 0, 1 << 30, NULL, NULL, "tcptest -d; zcc -b",
     "bytes given to each send call; 0: the whole message"},
    {"read", SIZE, "0", 0, 1 << 30, NULL, NULL, "tcptest -d",
     "bytes asked of each recv call; 0: 128 KiB for stream, the whole message for latency"},
    {"sockbuf", SIZE, "0", 0, 1 << 29, NULL, NULL, "tcptest -b, -B; zcc -i, -o",
     "socket buffers asked of the kernel (SO_SNDBUF and SO_RCVBUF), on both ends, which turns its "
     "autotuning off; 0: leave it on; Linux grants twice what is asked, and Hpcbench asked for "
     "half of its -b"},
    {"server_sockbuf", SIZE, "0", 0, 1 << 29, NULL, NULL, "tcptest -B",
     "the server's socket buffers, where they differ; 0: as sockbuf"},
    {"tos", INT, "0", 0, 255, NULL, NULL, "tcptest -q",
     "TOS or traffic class byte (DSCP * 4) of the test's packets, on both ends"},
    {"nodelay", BOOL, "true", 0, 0, NULL, NULL, "tcptest -N",
     "send small segments at once (TCP_NODELAY), on both ends"},
    {"congestion", TEXT, "cubic", 0, 0, NULL, NULL, NULL,
     "congestion control, by the kernel's name, on both ends; system: the kernel's default"},
    {"mss", INT, "0", 0, 32767, NULL, NULL, "tcptest -M",
     "largest segment (TCP_MAXSEG), in bytes, on both ends; 0: the kernel's"},
    {"data_port", INT, "0", 0, 65535, NULL, NULL, NULL,
     "the server's port for test data; 0: the system picks"},
    PLACE_PARAMETERS(NULL),
    {"warmup", TIME, "0", 0, 86400, NULL, NULL, NULL,
     "length of one replication done first and reported as number 0; 0: none"},
    {0},
};

static const struct metric metrics[] = {
    {"throughput", "bit/s", "higher", "stream",
     "payload bits that reached the receiver after its first read, over its time from the first "
     "read to the last",
     "Mbit/s", 1e6, 3},
    {"local_throughput", "bit/s", "neither", "stream",
     "payload bits the sender handed to its kernel, over the sender's time", "local Mbit/s", 1e6,
     3},
    {"sent_bytes", "B", "neither", "stream", "payload bytes sent", "sent bytes", 1, 0},
    {"received_bytes", "B", "neither", "stream", "payload bytes received", NULL, 1, 0},
    {"sent_messages", "", "neither", "stream",
     "whole messages sent; when the time is up, one may be cut short", "messages", 1, 0},
    {"retransmits", "", "lower", "stream", "segments the sender sent again (TCP_INFO)",
     "retrans", 1, 0},
    {"round_trips", "", "neither", "latency", "messages that came back", "trips", 1, 0},
    ROUND_TRIP_METRICS,
    SIDE_METRICS(NULL),
    {0},
};

/* Options that must be there before connect or listen, so that the window scale fits them. */
static void prepare(int fd, int family, const struct launch *launch, bool server)
{
    struct fields ignored; /* read back from the connection itself, by tell_granted */
    fields_clear(&ignored);
    set_buffers(fd, buffer_of(launch, server), &ignored);
    set_tos(fd, family, int_of(launch, "tos"), &ignored);
    set_congestion(fd, text_of(launch, "congestion"));
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, int_of(launch, "nodelay"), "nodelay");
    if (int_of(launch, "mss") > 0)
        set_option(fd, IPPROTO_TCP, TCP_MAXSEG, int_of(launch, "mss"), "mss");
}

/* What the kernel granted a connection. */
static void tell_granted(int fd, const struct launch *launch, bool server, struct fields *settings)
{
    struct address own = local_address(fd);
    set_buffers(fd, buffer_of(launch, server), settings);
    set_tos(fd, own.any.sa_family, int_of(launch, "tos"), settings);
    add_congestion(fd, settings);
    fields_add(settings, "nodelay", get_option(fd, IPPROTO_TCP, TCP_NODELAY) ? "true" : "false");
    fields_add_number(settings, "mss", get_option(fd, IPPROTO_TCP, TCP_MAXSEG));
    add_place(fd, settings);
}

/* A data connection of this replication: nothing but its token opens it. */
static int connect_data(struct client *client, const struct trial *trial)
{
    unsigned char token[TOKEN_SIZE], answer[TOKEN_SIZE];
    int family = client->server.any.sa_family;
    int fd = open_socket(family, SOCK_STREAM);
    prepare(fd, family, client->launch, false);
    int error = connect_socket(fd, &client->server);
    if (error && !control_alive(client->control))
        fail(PEER_LOST, "the server died or hung up");
    if (error)
        connect_failed(error, &client->server, TEST_PORT_ADVICE);
    set_timeouts(fd, ANSWER_SECONDS);
    put_be64(token, trial->token);
    if (send(fd, token, sizeof token, MSG_NOSIGNAL) != sizeof token ||
        recv(fd, answer, sizeof answer, MSG_WAITALL) != sizeof answer ||
        memcmp(token, answer, sizeof token) != 0)
        fail(PEER_LOST, "the server did not take up the test connection");
    set_timeouts(fd, 1);
    return fd;
}

/* What only a connection shows, the segment size for one, is read from one that carries nothing.
 * It is also the proof that the test port can be reached. */
static void client_open(struct client *client, struct fields *settings, struct fields *server)
{
    struct trial probe = {.token = random_token()};
    struct fields nothing, reply;
    fields_clear(&nothing);
    start_trial(client, &probe);
    int fd = connect_data(client, &probe);
    tell_granted(fd, client->launch, false, settings);
    close(fd);
    control_request(client->control, END, &nothing, RESULT, &reply, ANSWER_SECONDS);
    *server = reply;
}

static void client_measure(struct client *client, const struct trial *trial, struct fields *end,
                           struct result *result)
{
    client->fds[0] = connect_data(client, trial);
    if (is_mode(client->launch, "stream"))
        send_tcp_stream(client, trial, end, result);
    else
        measure_tcp_round_trips(client, trial, end, result);
}

static void client_finish(struct client *client, const struct fields *reply,
                          struct result *result)
{
    if (is_mode(client->launch, "stream"))
        finish_tcp_stream(client, reply, result);
    else if (fields_count(reply, "echoed", BYTES_LIMIT) != (uint64_t)result_get(result, "round_trips"))
        fail(SHORT_COUNT, "the server echoed another number of messages than came back");
    close(client->fds[0]);
    client->fds[0] = -1;
}

static void session_open(struct session *session, struct fields *settings)
{
    struct address address = session->local;
    int on = 1;
    session->fds[0] = open_socket(address.any.sa_family, SOCK_STREAM);
    setsockopt(session->fds[0], SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    prepare(session->fds[0], address.any.sa_family, &session->launch, true);
    address_set_port(&address, int_of(&session->launch, "data_port"));
    bind_socket(session->fds[0], &address);
    if (listen(session->fds[0], 16) != 0)
        fail(errno == EADDRINUSE ? PORT_IN_USE : SYSTEM_ERROR, "cannot listen on port %d: %s",
             address_port(&address), strerror(errno));
    address = local_address(session->fds[0]);
    add_ports(settings, "ports", (int[MAX_THREADS]){address_port(&address)});
}

/* True if the connection comes from the client and begins with the token. */
static bool is_client(int fd, const struct address *from, const struct session *session,
                      const struct trial *trial)
{
    unsigned char token[TOKEN_SIZE];
    set_timeouts(fd, 1);
    return same_host(from, &session->peer) &&
           recv(fd, token, sizeof token, MSG_WAITALL) == sizeof token &&
           get_be64(token) == trial->token &&
           send(fd, token, sizeof token, MSG_NOSIGNAL) == sizeof token;
}

static int accept_data(struct session *session, const struct trial *trial)
{
    uint64_t limit = now_ns() + seconds_ns(ANSWER_SECONDS);
    while (now_ns() < limit) {
        if (!wait_readable(session->fds[0], now_ns() + NANOSECONDS / 10)) {
            if (session_end_arrived(session))
                fail(BAD_PEER, "the client ended a test it had not begun");
            continue;
        }
        struct address from = {.length = sizeof from.space};
        int fd = accept4(session->fds[0], &from.any, &from.length, SOCK_CLOEXEC);
        if (fd >= 0 && is_client(fd, &from, session, trial))
            return fd;
        if (fd >= 0)
            close(fd);
    }
    fail(NO_ANSWER, "the client did not connect to the test port");
}

static void session_ready(struct session *session, const struct trial *trial)
{
    (void)trial;
    if (is_mode(&session->launch, "stream"))
        prepare_tcp_receiver(session);
    else
        prepare_tcp_echo(session);
}

static void session_measure(struct session *session, const struct trial *trial,
                            struct fields *reply)
{
    int fd = accept_data(session, trial);
    if (trial->duration <= 0 && trial->count == 0)
        tell_granted(fd, &session->launch, true, reply); /* the client's probe */
    else if (is_mode(&session->launch, "stream"))
        receive_tcp_stream(session, trial, fd, reply);
    else
        echo_messages(session, trial, fd, reply);
    if (!session->ended)
        control_receive(session->control, END, &session->end, ANSWER_SECONDS);
    close(fd);
}

static const struct network network = {
    .client_open = client_open,
    .client_measure = client_measure,
    .client_finish = client_finish,
    .session_open = session_open,
    .session_ready = session_ready,
    .session_measure = session_measure,
};

static int client(const struct launch *launch)
{
    return network_client(launch, &network);
}

static int server(const struct launch *launch)
{
    return network_server(launch, &network);
}

static const struct engine tcp = {
    .name = "tcp",
    .summary = "TCP stream throughput and round-trip latency",
    .parameters = parameters,
    .metrics = metrics,
    .port = 5677,
    .client = client,
    .server = server,
};

int main(int argc, char **argv)
{
    return engine_main(&tcp, argc, argv);
}
