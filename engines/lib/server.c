/* The server's listening part: reads hellos from many strangers at once without trusting or
 * waiting for any of them, and starts a session for one honest client at a time. */
#include "confine.h"
#include "control.h"
#include "failure.h"
#include "limits.h"
#include "memory.h"
#include "network.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PENDING 64            /* connections that have not said hello yet, or wait their turn */
#define TURN_SECONDS 0.3      /* for the session before to end, until we say "busy" */
#define HELLO_LIMIT 1024      /* bytes of fields */

struct pending {
    int fd; /* -1: a free place */
    struct address source;
    bool challenged; /* its hello was answered, its proof is due */
    bool welcome;    /* its proof was right, it waits for its turn */
    uint64_t until;
    size_t received;
    struct seal seal;
    unsigned char frame[HEADER_SIZE + HELLO_LIMIT + SEAL_SIZE];
};

struct server {
    const struct launch *launch;
    const struct network *network;
    int listening;
    int sessions[CLIENTS_LIMIT]; /* each the read end of a pipe that a session holds open, or -1 */
    size_t capacity;
    bool served;
    struct pending clients[PENDING];
};

static void dismiss(struct pending *client)
{
    close(client->fd);
    client->fd = -1;
}

static void refuse(struct pending *client, enum failure failure, const char *message)
{
    control_send_failure(client->fd, failure_code(failure), message);
    dismiss(client);
}

/* Whose place a new client takes: a free one, or else of who has dawdled longest; an honest one
 * that waits for its turn goes last. */
static uint64_t rank(const struct pending *client)
{
    return client->fd < 0 ? 0 : client->until + (client->welcome ? UINT64_MAX / 2 : 0);
}

static bool is_from(const struct pending *client, const struct address *source)
{
    return client->fd >= 0 && same_host(&client->source, source);
}

/* Strangers of one address are in the way of one another only. */
static void admit(struct server *server)
{
    struct pending guest = {.until = now_ns() + seconds_ns(ANSWER_SECONDS)}, *place = NULL;
    double own = 0;
    guest.fd = accept4(server->listening, NULL, NULL, SOCK_CLOEXEC);
    if (guest.fd < 0) { /* none after all, or no descriptor left, which must not become a busy loop */
        if (errno == EMFILE || errno == ENFILE)
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        return;
    }
    if (!has_peer(guest.fd, &guest.source)) {
        dismiss(&guest);
        return;
    }
    if (!is_allowed(server->launch, &guest.source)) {
        refuse(&guest, NOT_ALLOWED, "this server takes no clients from this address (its --allow)");
        return;
    }
    for (int i = 0; i < PENDING; i++)
        own += is_from(&server->clients[i], &guest.source);
    bool crowded = own >= server->launch->limits[LIMIT_CONNECTIONS];
    for (struct pending *client = server->clients; client < server->clients + PENDING; client++)
        if ((!crowded || is_from(client, &guest.source)) &&
            (place == NULL || rank(client) < rank(place)))
            place = client;
    if (place->fd >= 0)
        refuse(place, LIMIT_EXCEEDED, "too many connections have come since that prove nothing or "
                                      "wait, from this address (--max-connections) or in all");
    *place = guest;
}

/* Judges a complete hello: its header, as the rest is random. */
static void challenge(const struct server *server, struct pending *client,
                      const struct header *header)
{
    unsigned char opening[OPENING_SIZE];
    char message[MESSAGE_LIMIT];
    if (header->version != CONTROL_VERSION) {
        snprintf(message, sizeof message,
                 "the server speaks version %d of the protocol, the client %d: build both from the "
                 "same sources", CONTROL_VERSION, header->version);
        refuse(client, VERSION_MISMATCH, message);
        return;
    }
    opening_pack(CHALLENGE, opening);
    if (header->kind != HELLO || header->length != NONCE_SIZE ||
        send(client->fd, opening, sizeof opening, MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof opening) {
        dismiss(client);
        return;
    }
    seal_begin(&client->seal, server->launch->secret, true, client->frame, opening);
    client->challenged = true;
    client->received = 0;
}

/* Judges a complete proof: its seal before anything else. */
static void judge(const struct server *server, struct pending *client,
                  const struct header *header)
{
    static struct fields proof;
    char value[VALUE_LIMIT], message[MESSAGE_LIMIT];
    const unsigned char *payload = client->frame + HEADER_SIZE;
    if (!seal_valid(&client->seal, client->frame, payload, header->length,
                    payload + header->length)) {
        refuse(client, BAD_SECRET, "the client's secret is not the server's");
        return;
    }
    proof.length = header->length;
    memcpy(proof.text, payload, header->length);
    if (header->kind != PROOF || !fields_valid(&proof)) {
        dismiss(client);
        return;
    }
    if (!fields_find(&proof, "engine", value) ||
        strcmp(value, server->launch->engine->name) != 0) {
        snprintf(message, sizeof message, "this is a server of rail-%s",
                 server->launch->engine->name);
        refuse(client, WRONG_ENGINE, message);
        return;
    }
    client->welcome = true;
    client->until = now_ns() + seconds_ns(TURN_SECONDS);
}

/* What comes after a header. */
static size_t rest_of(const struct pending *client, const struct header *header)
{
    return header->length + (client->challenged ? SEAL_SIZE : 0);
}

/* Takes what a client says, as far as it has come. */
static void receive_hello(const struct server *server, struct pending *client)
{
    struct header header = header_unpack(client->frame);
    size_t rest = client->received < HEADER_SIZE ? 0 : rest_of(client, &header);
    size_t frame_size = HEADER_SIZE + rest;
    ssize_t step = recv(client->fd, client->frame + client->received,
                        frame_size - client->received, MSG_DONTWAIT);
    if (step < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (step <= 0) {
        dismiss(client);
        return;
    }
    client->received += (size_t)step;
    if (client->received < HEADER_SIZE)
        return;
    header = header_unpack(client->frame);
    if (header.magic != CONTROL_MAGIC || header.length > HELLO_LIMIT)
        dismiss(client);
    else if (client->received == HEADER_SIZE + rest_of(client, &header))
        (client->challenged ? judge : challenge)(server, client, &header);
}

/* Serves it in this process. */
static _Noreturn void serve(const struct server *server, const struct pending *client)
{
    close(server->listening);
    for (const struct pending *other = server->clients; other < server->clients + PENDING; other++)
        if (other != client && other->fd >= 0)
            close(other->fd);
    serve_session(server->launch, server->network, client->fd, &client->seal);
}

static void start_session(struct server *server, struct pending *client, int *session)
{
    int ends[2];
    if (server->launch->once && server->capacity == 1)
        serve(server, client); /* nobody else is waited for, so no process stays behind to do so */
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0) {
        refuse(client, SYSTEM_ERROR, "the server has no file descriptor left");
        return;
    }
    pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        refuse(client, SYSTEM_ERROR, "the server cannot start a process");
        return;
    }
    if (child == 0) {
        /* Dies with the server, whose guard watches standard input and the deadline. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        serve(server, client);
    }
    close(ends[1]);
    *session = ends[0];
    dismiss(client);
}

static void end_session(struct server *server, int *session)
{
    close(*session);
    *session = -1;
    server->served = true;
}

/* A place for one more session, NULL if all are taken. */
static int *free_session(struct server *server)
{
    for (size_t i = 0; i < server->capacity; i++)
        if (server->sessions[i] < 0)
            return &server->sessions[i];
    return NULL;
}

/* With --once: a client was served, and none is any more. */
static bool is_over(const struct server *server)
{
    bool idle = true;
    for (size_t i = 0; i < server->capacity; i++)
        idle = idle && server->sessions[i] < 0;
    return server->launch->once && server->served && idle;
}

/* Gives the free turn away, sends off whoever has run out of time. */
static void keep_order(struct server *server, uint64_t now)
{
    for (struct pending *client = server->clients; client < server->clients + PENDING; client++) {
        int *session = client->welcome ? free_session(server) : NULL;
        if (client->fd < 0)
            continue;
        if (session)
            start_session(server, client, session);
        else if (now >= client->until && client->welcome)
            refuse(client, BUSY, "the server is serving as many clients as it may (its --clients)");
        else if (now >= client->until)
            dismiss(client);
    }
}

/* Waits for something to happen: at most until a client's time is up. */
static void wait_for_events(struct server *server)
{
    struct pollfd poll_set[PENDING + 1 + CLIENTS_LIMIT], *sessions = poll_set + PENDING + 1;
    int wait_ms = -1;
    uint64_t now = now_ns();
    for (int i = 0; i < PENDING; i++) {
        struct pending *client = &server->clients[i];
        poll_set[i] = (struct pollfd){.fd = client->welcome ? -1 : client->fd, .events = POLLIN};
        if (client->fd < 0)
            continue;
        int left_ms = client->until > now ? (int)((client->until - now) / 1000000 + 1) : 0;
        if (wait_ms < 0 || left_ms < wait_ms)
            wait_ms = left_ms;
    }
    poll_set[PENDING] = (struct pollfd){.fd = server->listening, .events = POLLIN};
    for (size_t i = 0; i < server->capacity; i++)
        sessions[i] = (struct pollfd){.fd = server->sessions[i], .events = POLLIN};
    if (poll(poll_set, PENDING + 1 + server->capacity, wait_ms) < 0)
        return;
    for (int i = 0; i < PENDING; i++)
        if (poll_set[i].fd >= 0 && poll_set[i].revents)
            receive_hello(server, &server->clients[i]);
    if (poll_set[PENDING].revents)
        admit(server);
    for (size_t i = 0; i < server->capacity; i++)
        if (sessions[i].fd >= 0 && sessions[i].revents)
            end_session(server, &server->sessions[i]);
}

/* A socket where clients may come: without a secret nobody from outside, unless asked for. */
static int open_door(const struct launch *launch)
{
    char text[ADDRESS_LIMIT];
    bool secret = *launch->secret;
    if (launch->open && (secret || launch->bind))
        fail(BAD_PARAMETER, "--open is for a server without a secret, and instead of --bind");
    int fd = listen_on(launch->open ? launch->open : secret || launch->bind ? launch->bind
                                                                            : "127.0.0.1",
                       launch->port);
    struct address own = local_address(fd);
    address_text(&own, text);
    if (!secret && !launch->open && !is_loopback(&own))
        fail(BAD_PARAMETER, "without a secret, whoever reaches %s could use this server: give both "
             "ends one (RAILGAUGE_SECRET), or say --open %s instead of --bind", text, text);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

int network_server(const struct launch *launch, const struct network *network)
{
    static struct server server;
    server.launch = launch;
    server.network = network;
    server.capacity = (size_t)launch->limits[LIMIT_CLIENTS];
    memset(server.sessions, -1, sizeof server.sessions);
    for (int i = 0; i < PENDING; i++)
        server.clients[i].fd = -1;
    signal(SIGCHLD, SIG_IGN); /* the kernel buries our sessions */
    server.listening = open_door(launch);
    limit_memory(launch->limits[LIMIT_MEMORY]);
    confine();
    struct address address = local_address(server.listening);
    report_listening(address_port(&address));
    if (launch->open)
        report_warning("open-server", "server", "without a secret, whoever reaches this port uses "
                       "this server, and has it receive and send as much as it allows");
    while (!is_over(&server)) {
        wait_for_events(&server);
        keep_order(&server, now_ns());
    }
    close(server.listening);
    return 0;
}
