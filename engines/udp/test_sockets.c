/* The test sockets of both ends: one for each thread, each connected to its counterpart. */
#include "stamps.h"
#include "udp.h"

#include "../lib/control.h"
#include "../lib/failure.h"
#include "../lib/parameters.h"
#include "../lib/round_trips.h"
#include "../lib/sockopts.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

static bool sends_streams(const struct launch *launch, bool server)
{
    const struct udp_mode *mode = udp_mode_of(launch);
    return server ? mode->server_streams : mode->client_streams;
}

static bool receives_streams(const struct launch *launch, bool server)
{
    return sends_streams(launch, !server);
}

/* Has the kernel cut each send into datagrams. */
static void set_segmentation(int fd, const struct launch *launch, struct fields *settings)
{
    int segments = int_of(launch, "gso"), size = int_of(launch, "datagram");
    if (segments > 1 && setsockopt(fd, SOL_UDP, UDP_SEGMENT, &size, sizeof size) != 0)
        fail(NOT_PERMITTED, "gso: the kernel does not cut sends into datagrams (UDP_SEGMENT, since "
                            "Linux 4.18): %s", strerror(errno));
    bool granted = segments > 1 && get_option(fd, SOL_UDP, UDP_SEGMENT) == size;
    fields_add_number(settings, "gso", granted ? segments : 0);
}

/* Has the kernel hand over many datagrams at once, or say when each came. */
static void set_receiver(int fd, const struct launch *launch, struct fields *settings)
{
    int on = 1;
    bool requested = number_of(launch, "gro") != 0;
    if (requested && number_of(launch, "truncate") != 0)
        fail(BAD_PARAMETER, "truncate: with gro, only the first of the datagrams that the kernel "
                            "held together would keep its header: leave either off");
    if (requested)
        setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof on);
    bool granted = requested && get_option(fd, SOL_UDP, UDP_GRO) != 0;
    fields_add(settings, "gro", granted ? "true" : "false");
    if (requested && !granted)
        fields_add(settings, "warning", "gro-refused the kernel does not hand over many datagrams "
                                        "at once (UDP_GRO, since Linux 5.0)");
    if (is_stamped(launch))
        set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1, "time stamps");
}

/* Options that both ends set; only the first socket reports what was granted: the others get the
 * same. */
static int open_end(const struct launch *launch, bool server, int family, int number,
                    struct fields *settings)
{
    static struct fields repeated;
    if (number > 0)
        fields_clear(settings = &repeated);
    int fd = open_socket(family, SOCK_DGRAM);
    set_buffers(fd, buffers_of(launch, server), settings);
    set_tos(fd, family, int_of(launch, "tos"), settings);
    if (udp_mode_of(launch)->echoed)
        set_busy_poll(fd, launch, settings);
    if (sends_streams(launch, server))
        set_segmentation(fd, launch, settings);
    if (receives_streams(launch, server))
        set_receiver(fd, launch, settings);
    set_timeouts(fd, receives_streams(launch, server) ? WAIT_MS / 1e3 : 1);
    if (udp_mode_of(launch)->echoed)
        wait_without_limit(fd);
    if (udp_mode_of(launch)->client_streams)
        choose_waiting(fd, launch, settings);
    return fd;
}

/* From now on the kernel takes datagrams from nobody else. */
static void connect_peer(int fd, const struct address *host, int port)
{
    struct address peer = *host;
    address_set_port(&peer, port);
    int error = connect_socket(fd, &peer);
    if (error)
        connect_failed(error, &peer, TEST_PORT_ADVICE);
}

static void check_ports(const struct launch *launch, const int ports[MAX_THREADS])
{
    for (int i = 0; i < int_of(launch, "threads"); i++)
        if (ports[i] == 0)
            fail(BAD_PEER, "the other end named %d test ports, not %d", i,
                 int_of(launch, "threads"));
}

static void open_client_ends(struct client *client, struct fields *settings)
{
    check_ports(client->launch, client->ports);
    for (int i = 0; i < int_of(client->launch, "threads"); i++) {
        int fd = open_end(client->launch, false, client->server.any.sa_family, i, settings);
        connect_peer(fd, &client->server, client->ports[i]);
        client->fds[i] = fd;
    }
}

void open_udp_client(struct client *client, struct fields *settings)
{
    open_client_ends(client, settings);
    add_place(client->fds[0], settings);
}

void open_udp_unconnected(struct client *client, struct fields *settings)
{
    char text[ADDRESS_LIMIT];
    if (address_port(&client->server) == 0)
        address_set_port(&client->server, client->launch->engine->port);
    for (int i = 0; i < int_of(client->launch, "threads"); i++)
        client->fds[i] =
            open_end(client->launch, false, client->server.any.sa_family, i, settings);
    address_text(&client->server, text);
    fields_add(settings, "target", text);
    fields_add_number(settings, "target_port", address_port(&client->server));
}

void renew_udp_client(struct client *client)
{
    struct fields settings;
    struct client before = *client;
    fields_clear(&settings);
    open_client_ends(client, &settings); /* before the old ones are closed: other ports for sure */
    for (int i = 0; i < int_of(client->launch, "threads"); i++)
        close(before.fds[i]);
}

void open_udp_session(struct session *session, struct fields *settings)
{
    int ports[MAX_THREADS] = {0};
    int threads = int_of(&session->launch, "threads");
    int first = int_of(&session->launch, "data_port");
    if (first + threads - 1 > 65535)
        fail(BAD_PARAMETER, "data_port %d leaves no ports for %d threads: at most %d", first,
             threads, 65536 - threads);
    for (int i = 0; i < threads; i++) {
        struct address address = session->local;
        int fd = open_end(&session->launch, true, address.any.sa_family, i, settings);
        address_set_port(&address, first ? first + i : 0);
        bind_socket(fd, &address);
        address = local_address(fd);
        ports[i] = address_port(&address);
        session->fds[i] = fd;
    }
    if (is_stamped(&session->launch))
        stamps_await();
    add_place(session->fds[0], settings);
    add_ports(settings, "ports", ports);
}

void ready_udp_session(const struct session *session, const struct trial *trial)
{
    unsigned char scrap[1];
    uint64_t limit = now_ns() + DRAIN_NS;
    check_ports(&session->launch, trial->ports);
    for (int i = 0; i < int_of(&session->launch, "threads"); i++) {
        connect_peer(session->fds[i], &session->peer, trial->ports[i]);
        while (recv(session->fds[i], scrap, sizeof scrap, MSG_DONTWAIT) >= 0 && now_ns() < limit)
            ;
    }
}

/* The test socket refused: the server is gone, or only its port is. */
static _Noreturn void refused(int control)
{
    static struct fields final_message;
    if (wait_readable(control, now_ns() + DRAIN_NS))
        control_receive_any(control, &final_message, 1);
    fail(CONNECTION_REFUSED, "the server's host refuses test data: does a firewall let the port "
                             "through? --data-port chooses it");
}

_Noreturn void datagrams_failed(int control, int error)
{
    if (error == ECONNREFUSED)
        refused(control);
    if (error == ENETUNREACH || error == EHOSTUNREACH)
        fail(UNREACHABLE, "there is no way to the target: %s", strerror(error));
    fail(SYSTEM_ERROR, "cannot send datagrams: %s", strerror(error));
}
