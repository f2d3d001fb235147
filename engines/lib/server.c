/* The server's listening part: reads hellos from many strangers at once without trusting or
 * waiting for any of them, and starts a session for one honest client at a time. */
#include "control.h"
#include "failure.h"
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

#define GUESTS 64             /* connections that have not said hello yet, or wait their turn */
#define HELLO_SECONDS 5.0     /* for a whole hello */
#define TURN_SECONDS 0.3      /* for the session before to end, until we say "busy" */
#define HELLO_LIMIT 1024      /* bytes of fields */

struct guest {
    int fd; /* -1: a free place */
    bool welcome;  /* its hello was right, it waits for its turn */
    uint64_t until;
    size_t got;
    unsigned char frame[HEADER_SIZE + HELLO_LIMIT];
};

struct server {
    const struct launch *launch;
    const struct network *network;
    int listening;
    int session; /* read end of a pipe that the session holds open; -1: there is none */
    bool served;
    struct guest guests[GUESTS];
};

static void dismiss(struct guest *guest)
{
    close(guest->fd);
    guest->fd = -1;
}

static void refuse(struct guest *guest, enum failure failure, const char *message)
{
    control_send_failure(guest->fd, failure_code(failure), message);
    dismiss(guest);
}

/* Whose place a new guest takes: a free one, or else of who has dawdled longest; an honest one
 * that waits for its turn goes last. */
static uint64_t rank(const struct guest *guest)
{
    return guest->fd < 0 ? 0 : guest->until + (guest->welcome ? UINT64_MAX / 2 : 0);
}

static void admit(struct server *server)
{
    int fd = accept4(server->listening, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) { /* none after all, or no descriptor left, which must not become a busy loop */
        if (errno == EMFILE || errno == ENFILE)
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        return;
    }
    struct guest *place = &server->guests[0];
    for (struct guest *guest = server->guests; guest < server->guests + GUESTS; guest++)
        if (rank(guest) < rank(place))
            place = guest;
    if (place->fd >= 0)
        dismiss(place);
    *place = (struct guest){.fd = fd, .until = now_ns() + seconds_ns(HELLO_SECONDS)};
}

/* Judges a complete hello. */
static void judge(struct server *server, struct guest *guest, const struct header *header)
{
    static struct fields hello;
    char value[VALUE_LIMIT], message[MESSAGE_LIMIT];
    if (header->version != CONTROL_VERSION) {
        snprintf(message, sizeof message,
                 "the server speaks version %d of the protocol, the client %d: build both from the "
                 "same sources", CONTROL_VERSION, header->version);
        refuse(guest, VERSION_MISMATCH, message);
        return;
    }
    hello.length = header->length;
    memcpy(hello.text, guest->frame + HEADER_SIZE, header->length);
    if (header->kind != HELLO || !fields_valid(&hello)) {
        dismiss(guest);
        return;
    }
    if (!fields_find(&hello, "secret", value) || !secrets_equal(value, server->launch->secret)) {
        refuse(guest, BAD_SECRET, "the client's secret is not the server's");
        return;
    }
    if (!fields_find(&hello, "engine", value) ||
        strcmp(value, server->launch->engine->name) != 0) {
        snprintf(message, sizeof message, "this is a server of rail-%s",
                 server->launch->engine->name);
        refuse(guest, WRONG_ENGINE, message);
        return;
    }
    guest->welcome = true;
    guest->until = now_ns() + seconds_ns(TURN_SECONDS);
}

/* Takes what a guest says, as far as it has come. */
static void listen_to(struct server *server, struct guest *guest)
{
    struct header header;
    size_t wanted = HEADER_SIZE;
    if (guest->got >= HEADER_SIZE) {
        header = header_unpack(guest->frame);
        wanted += header.length;
    }
    ssize_t step = recv(guest->fd, guest->frame + guest->got, wanted - guest->got, MSG_DONTWAIT);
    if (step < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (step <= 0) {
        dismiss(guest);
        return;
    }
    guest->got += (size_t)step;
    if (guest->got < HEADER_SIZE)
        return;
    header = header_unpack(guest->frame);
    if (header.magic != CONTROL_MAGIC || header.length > HELLO_LIMIT)
        dismiss(guest);
    else if (guest->got == HEADER_SIZE + header.length)
        judge(server, guest, &header);
}

static void start_session(struct server *server, struct guest *guest)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0) {
        refuse(guest, SYSTEM_ERROR, "the server has no file descriptor left");
        return;
    }
    pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        refuse(guest, SYSTEM_ERROR, "the server cannot start a process");
        return;
    }
    if (child == 0) {
        /* Dies with the server, whose guard watches standard input and the deadline. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        close(server->listening);
        for (struct guest *other = server->guests; other < server->guests + GUESTS; other++)
            if (other != guest && other->fd >= 0)
                close(other->fd);
        serve_session(server->launch, server->network, guest->fd);
    }
    close(ends[1]);
    server->session = ends[0];
    dismiss(guest);
}

static void end_session(struct server *server)
{
    close(server->session);
    server->session = -1;
    server->served = true;
}

/* Gives the free turn away, sends off whoever has run out of time. */
static void keep_order(struct server *server, uint64_t now)
{
    for (struct guest *guest = server->guests; guest < server->guests + GUESTS; guest++) {
        if (guest->fd < 0)
            continue;
        if (guest->welcome && server->session < 0)
            start_session(server, guest);
        else if (now >= guest->until && guest->welcome)
            refuse(guest, BUSY, "the server is serving another client");
        else if (now >= guest->until)
            dismiss(guest);
    }
}

/* Waits for something to happen: at most until a guest's time is up. */
static void wait_for_events(struct server *server)
{
    struct pollfd wanted[GUESTS + 2];
    int wait_ms = -1;
    uint64_t now = now_ns();
    for (int i = 0; i < GUESTS; i++) {
        struct guest *guest = &server->guests[i];
        wanted[i] = (struct pollfd){.fd = guest->welcome ? -1 : guest->fd, .events = POLLIN};
        if (guest->fd < 0)
            continue;
        int left_ms = guest->until > now ? (int)((guest->until - now) / 1000000 + 1) : 0;
        if (wait_ms < 0 || left_ms < wait_ms)
            wait_ms = left_ms;
    }
    wanted[GUESTS] = (struct pollfd){.fd = server->listening, .events = POLLIN};
    wanted[GUESTS + 1] = (struct pollfd){.fd = server->session, .events = POLLIN};
    if (poll(wanted, GUESTS + 2, wait_ms) < 0)
        return;
    for (int i = 0; i < GUESTS; i++)
        if (wanted[i].fd >= 0 && wanted[i].revents)
            listen_to(server, &server->guests[i]);
    if (wanted[GUESTS].revents)
        admit(server);
    if (server->session >= 0 && wanted[GUESTS + 1].revents)
        end_session(server);
}

int network_server(const struct launch *launch, const struct network *network)
{
    static struct server server;
    server.launch = launch;
    server.network = network;
    server.session = -1;
    for (int i = 0; i < GUESTS; i++)
        server.guests[i].fd = -1;
    signal(SIGCHLD, SIG_IGN); /* the kernel buries our sessions */
    server.listening = listen_on(launch->bind, launch->port);
    fcntl(server.listening, F_SETFL, O_NONBLOCK);
    struct address address = local_address(server.listening);
    report_listening(address_port(&address));
    while (!(launch->once && server.served)) {
        wait_for_events(&server);
        keep_order(&server, now_ns());
    }
    close(server.listening);
    return 0;
}
