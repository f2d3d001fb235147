/* rail-udp: UDP stream throughput and round-trip latency. */
#include "lib/control.h"
#include "lib/engine.h"
#include "lib/failure.h"
#include "lib/histogram.h"
#include "lib/memory.h"
#include "lib/network.h"
#include "lib/packet.h"
#include "lib/parameters.h"
#include "lib/sequence.h"
#include "lib/sides.h"
#include "lib/sockopts.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define ANSWER_LIMIT_NS NANOSECONDS      /* a round trip longer than this is lost */
#define STALL_NS (10 * NANOSECONDS)      /* no progress for so long is a failure */
#define DRAIN_NS (NANOSECONDS / 5)       /* silence after which nothing more will come */
#define POLL_SECONDS 0.01                /* the server looks at the control channel so often */
#define COUNT_LIMIT 1000000000000000 /* no replication has that many datagrams */
#define RECEIVE_BATCH 64                 /* datagrams taken in one call */

static const struct parameter parameters[] = {
    {"mode", CHOICE, "stream", 0, 0, "stream|latency", NULL, "udptest -a: latency",
     "stream: the client sends as fast as it can; latency: one datagram back and forth"},
    {"ip", CHOICE, "any", 0, 0, "any|4|6", NULL, NULL, "IP version; any: what the name gives"},
    {"duration", TIME, "5", 0.01, 86400, NULL, NULL, "udptest -t", "length of a replication"},
    {"count", INT, "0", 0, 1e12, NULL, NULL, NULL,
     "datagrams (stream) or round trips (latency) to do instead of duration; 0: by duration"},
    {"datagram", SIZE, "1460", 24, 65507, NULL, NULL, "udptest -l, -d, -A",
     "payload of each datagram, 24 bytes of header included; Hpcbench's -d below -l just sent "
     "datagrams of -d bytes, so both are this"},
    {"batch", INT, "1", 1, 1024, NULL, "stream", NULL,
     "datagrams handed to the kernel in one call (sendmmsg); 1: one send for each"},
    {"sockbuf", SIZE, "0", 0, 1 << 30, NULL, NULL, "udptest -b, -B",
     "socket buffers asked of the kernel (SO_SNDBUF and SO_RCVBUF), on both ends; 0: leave its "
     "own; Linux grants twice what is asked, and Hpcbench asked for half of its -b"},
    {"server_sockbuf", SIZE, "0", 0, 1 << 30, NULL, NULL, "udptest -B",
     "the server's socket buffers, where they differ; 0: as sockbuf"},
    {"tos", INT, "0", 0, 255, NULL, NULL, "udptest -q",
     "TOS or traffic class byte (DSCP * 4) of the test's packets, on both ends"},
    {"data_port", INT, "0", 0, 65535, NULL, NULL, NULL,
     "the server's port for test data; 0: the system picks"},
    {"warmup", TIME, "0", 0, 86400, NULL, NULL, NULL,
     "length of one replication done first and reported as number 0; 0: none"},
    {0},
};

static const struct metric metrics[] = {
    {"throughput", "bit/s", "higher", "stream",
     "network throughput: unique payload bits that reached the receiver after the first datagram, "
     "over the receiver's time from its first to its last datagram",
     "network Mbit/s", 1e6, 3},
    {"local_throughput", "bit/s", "neither", "stream",
     "payload bits the sender handed to its kernel, over the sender's time", "local Mbit/s", 1e6,
     3},
    {"sent_packets", "", "neither", "stream", "datagrams sent", "sent", 1, 0},
    {"sent_bytes", "B", "neither", "stream", "payload bytes sent", NULL, 1, 0},
    {"received_packets", "", "neither", "stream", "different datagrams received", "received", 1,
     0},
    {"received_bytes", "B", "neither", "stream", "payload bytes of those", NULL, 1, 0},
    {"lost_packets", "", "lower", NULL,
     "stream: sent less received, the last ones included; latency: round trips without an answer "
     "within 1 s",
     "lost", 1, 0},
    {"loss_rate", "", "lower", "stream", "lost datagrams / sent datagrams, 0 to 1", "loss %",
     0.01, 4},
    {"duplicate_packets", "", "lower", "stream", "datagrams received again; never set off against "
     "losses", "dup", 1, 0},
    {"reordered_packets", "", "lower", "stream",
     "datagrams that came after one sent later; they are not lost", "reorder", 1, 0},
    {"receiver_drops", "", "lower", "stream",
     "datagrams the receiving kernel dropped at the socket, its buffer being full; part of "
     "lost_packets", "drops", 1, 0},
    {"sender_retries", "", "lower", "stream",
     "sends that the sending kernel refused for want of memory (ENOBUFS) and that were repeated",
     NULL, 1, 0},
    {"round_trips", "", "neither", "latency", "datagrams that came back", "trips", 1, 0},
    ROUND_TRIP_METRICS,
    SIDE_METRICS,
    {0},
};

/* The test socket refused: the server is gone, or only its port is. */
static _Noreturn void refused(int control)
{
    static struct fields last_words;
    if (wait_readable(control, now_ns() + DRAIN_NS))
        control_receive_any(control, &last_words, 1);
    fail(CONNECTION_REFUSED, "the server's host refuses test data: does a firewall let the port "
                             "through? --data-port chooses it");
}

static _Noreturn void send_failed(int control, int error)
{
    if (error == ECONNREFUSED)
        refused(control);
    fail(SYSTEM_ERROR, "cannot send datagrams: %s", strerror(error));
}

/* Options that both ends set. */
static void prepare(int fd, int family, const struct launch *launch, bool server,
                    struct fields *settings)
{
    set_buffers(fd, buffer_of(launch, server), settings);
    set_tos(fd, family, int_of(launch, "tos"), settings);
}

static void client_open(struct client *client, struct fields *settings, struct fields *server)
{
    (void)server;
    int family = client->server.any.sa_family;
    client->fd = open_socket(family, SOCK_DGRAM);
    prepare(client->fd, family, client->launch, false, settings);
    set_timeouts(client->fd, 1);
    connect_within(client->fd, &client->server, 1, "test port");
    add_place(client->fd, settings);
}

/* The datagrams of one call, each with a header of its own and all with one payload. */
struct sender {
    int fd, control;
    unsigned int batch;
    uint64_t sent, retries;
    struct mmsghdr messages[1024];
    struct iovec parts[1024][2];
    unsigned char headers[1024][PACKET_HEADER];
};

static void sender_begin(struct sender *sender, const struct client *client, uint64_t token)
{
    size_t payload = size_of(client->launch, "datagram") - PACKET_HEADER;
    static unsigned char *data;
    if (data == NULL)
        data = test_buffer(payload + 1);
    memset(sender, 0, sizeof *sender);
    sender->fd = client->fd;
    sender->control = client->control;
    sender->batch = (unsigned int)int_of(client->launch, "batch");
    for (unsigned int i = 0; i < sender->batch; i++) {
        put_be64(sender->headers[i], token);
        sender->parts[i][0] = (struct iovec){sender->headers[i], PACKET_HEADER};
        sender->parts[i][1] = (struct iovec){data, payload};
        sender->messages[i].msg_hdr.msg_iov = sender->parts[i];
        sender->messages[i].msg_hdr.msg_iovlen = 2;
    }
}

/* Sends up to limit datagrams; what the kernel didn't take is tried again by the next call. */
static void send_some(struct sender *sender, uint64_t now, uint64_t limit)
{
    unsigned int wanted = sender->batch < limit ? sender->batch : (unsigned int)limit;
    for (unsigned int i = 0; i < wanted; i++)
        packet_stamp(sender->headers[i], sender->sent + i, now);
    int step = wanted == 1 ? (sendmsg(sender->fd, &sender->messages[0].msg_hdr, 0) < 0 ? -1 : 1)
                           : sendmmsg(sender->fd, sender->messages, wanted, 0);
    if (step > 0) {
        sender->sent += (uint64_t)step;
        return;
    }
    if (errno == ENOBUFS) { /* a full device queue drains in microseconds */
        sender->retries++;
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    } else if (errno != EAGAIN && errno != EINTR) {
        send_failed(sender->control, errno);
    }
}

static void send_stream(struct client *client, const struct trial *trial, struct fields *end,
                        struct result *result)
{
    static struct sender sender;
    struct usage usage;
    sender_begin(&sender, client, trial->token);
    uint64_t now = now_ns(), stop = now + seconds_ns(trial->duration), progress = now;
    usage_begin(&usage);
    while (trial->count ? sender.sent < trial->count : now < stop) {
        uint64_t before = sender.sent;
        send_some(&sender, now, trial->count ? trial->count - before : UINT64_MAX);
        now = now_ns();
        if (sender.sent > before)
            progress = now;
        else if (now - progress > STALL_NS)
            fail(NO_BUFFERS, "the kernel took no datagram for 10 s");
    }
    usage_end(&usage);
    double bytes = (double)sender.sent * number_of(client->launch, "datagram");
    result_set_usage(result, "client", &usage);
    result_set(result, "local_throughput", bytes * 8 / usage.elapsed);
    result_set(result, "sent_packets", (double)sender.sent);
    result_set(result, "sent_bytes", bytes);
    result_set(result, "sender_retries", (double)sender.retries);
    fields_add_number(end, "sent", (double)sender.sent);
}

/* Waits for the echo of that number; returns its arrival, 0 if it did not come in time. */
static uint64_t wait_for_echo(struct client *client, const unsigned char *packet,
                              unsigned char *answer, size_t size, uint64_t sent_at)
{
    for (;;) {
        ssize_t got = recv(client->fd, answer, size + 1, 0);
        uint64_t now = now_ns();
        if (got == (ssize_t)size && memcmp(answer, packet, 16) == 0)
            return now;
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            send_failed(client->control, errno);
        if (now - sent_at >= ANSWER_LIMIT_NS)
            return 0;
    }
}

static void measure_latency(struct client *client, const struct trial *trial, struct fields *end,
                            struct result *result)
{
    static struct histogram times;
    static unsigned char *packet, *answer;
    size_t size = size_of(client->launch, "datagram");
    uint64_t lost = 0, silent_since, number = 0;
    struct usage usage;
    if (packet == NULL) {
        packet = test_buffer(size);
        answer = test_buffer(size + 1);
    }
    put_be64(packet, trial->token);
    histogram_clear(&times);
    usage_begin(&usage);
    uint64_t now = now_ns(), stop = now + seconds_ns(trial->duration);
    silent_since = now;
    for (; trial->count ? number < trial->count : now < stop; number++) {
        uint64_t sent_at = now_ns();
        packet_stamp(packet, number, sent_at);
        if (send(client->fd, packet, size, 0) < 0 && errno != ENOBUFS && errno != EAGAIN &&
            errno != EINTR)
            send_failed(client->control, errno);
        uint64_t arrived = wait_for_echo(client, packet, answer, size, sent_at);
        now = arrived ? arrived : now_ns();
        if (arrived) {
            histogram_add(&times, arrived - sent_at);
            silent_since = now;
            continue;
        }
        lost++;
        if (!control_alive(client->control))
            fail(PEER_LOST, "the server died or hung up");
        if (now - silent_since > STALL_NS)
            break;
    }
    usage_end(&usage);
    if (times.count == 0)
        fail(NO_DATA, "none of %llu datagrams came back within 1 s", (unsigned long long)lost);
    if (now - silent_since > STALL_NS)
        fail(NO_ANSWER, "no datagram came back for 10 s, after %llu that did",
             (unsigned long long)times.count);
    result_set_usage(result, "client", &usage);
    result_set(result, "lost_packets", (double)lost);
    result_set_round_trips(result, &times);
    fields_add_number(end, "sent", (double)number);
}

static void client_measure(struct client *client, const struct trial *trial, struct fields *end,
                           struct result *result)
{
    if (is_mode(client->launch, "stream"))
        send_stream(client, trial, end, result);
    else
        measure_latency(client, trial, end, result);
}

static void client_finish(struct client *client, const struct fields *reply,
                          struct result *result)
{
    if (is_mode(client->launch, "latency"))
        return;
    double size = number_of(client->launch, "datagram");
    double sent = result_get(result, "sent_packets");
    double received = (double)fields_count(reply, "received", sent);
    double timed = (double)fields_count(reply, "timed", received);
    double elapsed = fields_number(reply, "elapsed", 0, 1e9);
    if (elapsed <= 0 || timed <= 0)
        fail(TOO_SHORT, "only %g datagram arrived, which has no rate: send more", received);
    result_set(result, "throughput", timed * size * 8 / elapsed);
    result_set(result, "received_packets", received);
    result_set(result, "received_bytes", received * size);
    result_set(result, "lost_packets", sent - received);
    result_set(result, "loss_rate", (sent - received) / sent);
    result_set(result, "duplicate_packets", (double)fields_count(reply, "duplicates", COUNT_LIMIT));
    result_set(result, "reordered_packets", (double)fields_count(reply, "reordered", COUNT_LIMIT));
    result_set(result, "receiver_drops", (double)fields_count(reply, "drops", COUNT_LIMIT));
}

static void session_open(struct session *session, struct fields *settings)
{
    struct address address = session->local;
    int family = address.any.sa_family;
    session->fd = open_socket(family, SOCK_DGRAM);
    prepare(session->fd, family, &session->launch, true, settings);
    address_set_port(&address, int_of(&session->launch, "data_port"));
    bind_socket(session->fd, &address);
    set_timeouts(session->fd, POLL_SECONDS);
    add_place(session->fd, settings);
}

/* Talks to the client's test socket only, and forgets what an earlier replication left. */
static void session_ready(struct session *session, const struct trial *trial)
{
    struct address peer = session->peer;
    unsigned char scrap[PACKET_HEADER];
    address_set_port(&peer, trial->client_port);
    connect_within(session->fd, &peer, 1, "client's test port");
    uint64_t limit = now_ns() + DRAIN_NS;
    while (recv(session->fd, scrap, sizeof scrap, MSG_DONTWAIT) >= 0 && now_ns() < limit)
        ;
}

/* How many datagrams the kernel has dropped at this socket since it was opened. */
static uint32_t socket_drops(int fd)
{
    uint32_t counters[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof counters;
    getsockopt(fd, SOL_SOCKET, SO_MEMINFO, counters, &length);
    return counters[SK_MEMINFO_DROPS];
}

/* What a stream's receiver has seen so far. */
struct receiver {
    struct sequence sequence;
    uint64_t token, first_at, last_at, with_first;
    struct mmsghdr messages[RECEIVE_BATCH];
    struct iovec parts[RECEIVE_BATCH][2];
    unsigned char headers[RECEIVE_BATCH][PACKET_HEADER];
};

static void receiver_begin(struct receiver *receiver, const struct session *session,
                           uint64_t token)
{
    size_t payload = size_of(&session->launch, "datagram") - PACKET_HEADER;
    static unsigned char *data;
    if (data == NULL)
        data = test_buffer(payload + 1);
    sequence_clear(&receiver->sequence);
    receiver->token = token;
    receiver->first_at = receiver->last_at = receiver->with_first = 0;
    for (int i = 0; i < RECEIVE_BATCH; i++) {
        receiver->parts[i][0] = (struct iovec){receiver->headers[i], PACKET_HEADER};
        /* A byte more than is due shows a datagram that is too long. */
        receiver->parts[i][1] = (struct iovec){data, payload + 1};
        receiver->messages[i].msg_hdr.msg_iov = receiver->parts[i];
        receiver->messages[i].msg_hdr.msg_iovlen = 2;
    }
}

/* Counts what one call brought. Strangers and stragglers don't have the token. */
static void take_datagrams(struct receiver *receiver, int count, size_t size, uint64_t now)
{
    for (int i = 0; i < count; i++) {
        const unsigned char *header = receiver->headers[i];
        uint64_t number = get_be64(header + 8);
        if (receiver->messages[i].msg_len != size || get_be64(header) != receiver->token ||
            number > COUNT_LIMIT)
            continue;
        if (!sequence_add(&receiver->sequence, number))
            continue;
        if (receiver->first_at == 0) {
            receiver->first_at = now;
            receiver->with_first = 1;
        }
        receiver->last_at = now;
    }
}

static void receive_stream(struct session *session, const struct trial *trial,
                           struct fields *reply)
{
    static struct receiver receiver;
    struct usage usage;
    size_t size = size_of(&session->launch, "datagram");
    uint64_t limit = trial_limit(trial), sent = UINT64_MAX, quiet_since = now_ns();
    uint32_t drops = socket_drops(session->fd);
    receiver_begin(&receiver, session, trial->token);
    usage_begin(&usage);
    while (receiver.sequence.unique < sent) {
        /* The first datagram comes alone, so that the time starts with exactly one. */
        unsigned int wanted = receiver.first_at ? RECEIVE_BATCH : 1;
        int got = recvmmsg(session->fd, receiver.messages, wanted, MSG_WAITFORONE, NULL);
        uint64_t now = now_ns();
        if (got > 0) {
            take_datagrams(&receiver, got, size, now);
            quiet_since = now;
        } else if (errno != EAGAIN && errno != EINTR && errno != ECONNREFUSED) {
            fail(SYSTEM_ERROR, "cannot receive datagrams: %s", strerror(errno));
        } else if (session->ended ? now - quiet_since > DRAIN_NS
                                  : now - quiet_since > seconds_ns(GRACE_SECONDS)) {
            break;
        } else if (!session->ended && session_end_arrived(session)) {
            sent = fields_count(&session->end, "sent", COUNT_LIMIT);
            quiet_since = now;
        }
        if (now > limit)
            fail(NO_ANSWER, "the client did not end in time");
    }
    usage_end(&usage);
    if (!session->ended)
        fail(NO_ANSWER, "no datagram and no word from the client for %g s", GRACE_SECONDS);
    if (receiver.sequence.unique == 0)
        fail(NO_DATA, "not one of %llu datagrams arrived: does a firewall let UDP through?",
             (unsigned long long)sent);
    if (receiver.sequence.next > sent)
        fail(BAD_PEER, "a datagram arrived that was never sent");
    usage.elapsed = ns_seconds(receiver.last_at - receiver.first_at);
    add_usage(reply, &usage);
    fields_add_number(reply, "received", (double)receiver.sequence.unique);
    fields_add_number(reply, "timed", (double)(receiver.sequence.unique - receiver.with_first));
    fields_add_number(reply, "duplicates", (double)receiver.sequence.duplicates);
    fields_add_number(reply, "reordered", (double)receiver.sequence.reordered);
    fields_add_number(reply, "drops", (double)(uint32_t)(socket_drops(session->fd) - drops));
}

static void echo(struct session *session, const struct trial *trial, struct fields *reply)
{
    static unsigned char *packet;
    struct usage usage;
    size_t size = size_of(&session->launch, "datagram");
    uint64_t limit = trial_limit(trial);
    if (packet == NULL)
        packet = test_buffer(size + 1);
    usage_begin(&usage);
    for (;;) {
        ssize_t got = recv(session->fd, packet, size + 1, 0);
        if (got == (ssize_t)size && get_be64(packet) == trial->token)
            send(session->fd, packet, size, 0); /* one that fails is lost, as the client sees */
        else if (got < 0 && session_end_arrived(session))
            break;
        if (now_ns() > limit)
            fail(NO_ANSWER, "the client did not end in time");
    }
    usage_end(&usage);
    add_usage(reply, &usage);
}

static void session_measure(struct session *session, const struct trial *trial,
                            struct fields *reply)
{
    if (is_mode(&session->launch, "stream"))
        receive_stream(session, trial, reply);
    else
        echo(session, trial, reply);
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

static const struct engine udp = {
    .name = "udp",
    .summary = "UDP stream throughput with loss, and round-trip latency",
    .parameters = parameters,
    .metrics = metrics,
    .port = 5678,
    .client = client,
    .server = server,
};

int main(int argc, char **argv)
{
    return engine_main(&udp, argc, argv);
}
