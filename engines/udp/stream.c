/* UDP in one direction: the client sends as fast as it can, the server counts what arrives. */
#include "udp.h"

#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/packet.h"
#include "../lib/parameters.h"
#include "../lib/sequence.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/uio.h>

#define RECEIVE_BATCH 64 /* datagrams taken in one call */

/* The datagrams of one call, each with a header of its own and all with one payload. A datagram
 * that goes alone is sent from one piece. */
struct sender {
    int fd, control;
    size_t size;
    unsigned char *packet;
    unsigned int batch;
    uint64_t sent, retries;
    struct mmsghdr messages[1024];
    struct iovec parts[1024][2];
    unsigned char headers[1024][PACKET_HEADER];
};

static void sender_begin(struct sender *sender, const struct client *client, uint64_t token)
{
    size_t size = size_of(client->launch, "datagram");
    static unsigned char *packet;
    if (packet == NULL)
        packet = test_buffer(size);
    memset(sender, 0, sizeof *sender);
    sender->size = size;
    sender->packet = packet;
    put_be64(packet, token);
    sender->fd = client->fds[0];
    sender->control = client->control;
    sender->batch = (unsigned int)int_of(client->launch, "batch");
    for (unsigned int i = 0; i < sender->batch; i++) {
        put_be64(sender->headers[i], token);
        sender->parts[i][0] = (struct iovec){sender->headers[i], PACKET_HEADER};
        sender->parts[i][1] = (struct iovec){packet + PACKET_HEADER, size - PACKET_HEADER};
        sender->messages[i].msg_hdr.msg_iov = sender->parts[i];
        sender->messages[i].msg_hdr.msg_iovlen = 2;
    }
}

/* Hands datagrams to the kernel; returns how many it took, -1 for an error. */
static int hand_over(struct sender *sender, uint64_t now, unsigned int wanted)
{
    if (wanted == 1) {
        packet_stamp(sender->packet, sender->sent, now);
        return send(sender->fd, sender->packet, sender->size, 0) < 0 ? -1 : 1;
    }
    for (unsigned int i = 0; i < wanted; i++)
        packet_stamp(sender->headers[i], sender->sent + i, now);
    return sendmmsg(sender->fd, sender->messages, wanted, 0);
}

/* Sends up to limit datagrams; what the kernel didn't take is tried again by the next call. */
static void send_some(struct sender *sender, uint64_t now, uint64_t limit)
{
    int step = hand_over(sender, now, sender->batch < limit ? sender->batch : (unsigned int)limit);
    if (step > 0) {
        sender->sent += (uint64_t)step;
        return;
    }
    if (errno == ENOBUFS) { /* a full device queue drains in microseconds */
        sender->retries++;
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    } else if (errno != EAGAIN && errno != EINTR) {
        datagrams_failed(sender->control, errno);
    }
}

void send_udp_stream(struct client *client, const struct trial *trial, struct fields *end,
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

/* How many datagrams the kernel has dropped at this socket since it was opened. */
static uint32_t socket_drops(int fd)
{
    uint32_t counters[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof counters;
    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, counters, &length) != 0)
        fail(SYSTEM_ERROR, "cannot read the socket's drops, as Linux 4.12 and later tell them: %s",
             strerror(errno));
    return counters[SK_MEMINFO_DROPS];
}

/* What a stream's receiver has seen so far. */
struct receiver {
    struct sequence sequence;
    uint64_t token, first_at, last_at, with_first;
    uint32_t drops; /* of the socket, before the replication */
    struct mmsghdr messages[RECEIVE_BATCH];
    struct iovec parts[RECEIVE_BATCH][2];
    unsigned char headers[RECEIVE_BATCH][PACKET_HEADER];
};

/* One for each session, which is a process. */
static struct receiver receiver;

void prepare_udp_receiver(const struct session *session, const struct trial *trial)
{
    size_t payload = size_of(&session->launch, "datagram") - PACKET_HEADER;
    static unsigned char *data;
    if (data == NULL)
        data = test_buffer(payload + 1);
    sequence_clear(&receiver.sequence);
    receiver.token = trial->token;
    receiver.first_at = receiver.last_at = receiver.with_first = 0;
    receiver.drops = socket_drops(session->fds[0]);
    for (int i = 0; i < RECEIVE_BATCH; i++) {
        receiver.parts[i][0] = (struct iovec){receiver.headers[i], PACKET_HEADER};
        /* A byte more than is due shows a datagram that is too long. */
        receiver.parts[i][1] = (struct iovec){data, payload + 1};
        receiver.messages[i].msg_hdr.msg_iov = receiver.parts[i];
        receiver.messages[i].msg_hdr.msg_iovlen = 2;
    }
}

/* Counts what one call brought; false if nothing of it was new. Strangers and stragglers don't
 * have the token. */
static bool take_datagrams(int count, size_t size, uint64_t now)
{
    bool news = false;
    for (int i = 0; i < count; i++) {
        const unsigned char *header = receiver.headers[i];
        uint64_t number = get_be64(header + 8);
        if (receiver.messages[i].msg_len != size || get_be64(header) != receiver.token ||
            number > COUNT_LIMIT)
            continue;
        if (!sequence_add(&receiver.sequence, number))
            continue;
        if (receiver.first_at == 0) {
            receiver.first_at = now;
            receiver.with_first = 1;
        }
        receiver.last_at = now;
        news = true;
    }
    return news;
}

void receive_udp_stream(struct session *session, const struct trial *trial, struct fields *reply)
{
    struct usage usage;
    size_t size = size_of(&session->launch, "datagram");
    uint64_t limit = trial_limit(trial, GRACE_SECONDS), sent = UINT64_MAX, quiet_since = now_ns();
    usage_begin(&usage);
    while (receiver.sequence.unique < sent) {
        /* The first datagram comes alone, so that the time starts with exactly one. */
        unsigned int wanted = receiver.first_at ? RECEIVE_BATCH : 1;
        int got = recvmmsg(session->fds[0], receiver.messages, wanted, MSG_WAITFORONE, NULL);
        uint64_t now = now_ns();
        if (got > 0) {
            if (take_datagrams(got, size, now))
                quiet_since = now;
        } else if (errno != EAGAIN && errno != EINTR && errno != ECONNREFUSED) {
            fail(SYSTEM_ERROR, "cannot receive datagrams: %s", strerror(errno));
        } else if (!session->ended && session_end_arrived(session)) {
            sent = fields_count(&session->end, "sent", COUNT_LIMIT);
            quiet_since = now;
        }
        if (now - quiet_since > (session->ended ? DRAIN_NS : seconds_ns(GRACE_SECONDS)))
            break;
        if (now > limit)
            fail(NO_ANSWER, "the client did not end in time");
    }
    usage_end(&usage);
    if (receiver.sequence.unique == 0)
        fail(NO_DATA, "not one datagram arrived: does a firewall let UDP through?");
    if (!session->ended)
        fail(NO_ANSWER, "no datagram and no word from the client for %g s", GRACE_SECONDS);
    if (receiver.sequence.next > sent)
        fail(BAD_PEER, "a datagram arrived that was never sent");
    usage.elapsed = ns_seconds(receiver.last_at - receiver.first_at);
    add_usage(reply, &usage);
    fields_add_number(reply, "received", (double)receiver.sequence.unique);
    fields_add_number(reply, "timed", (double)(receiver.sequence.unique - receiver.with_first));
    fields_add_number(reply, "duplicates", (double)receiver.sequence.duplicates);
    fields_add_number(reply, "reordered", (double)receiver.sequence.reordered);
    fields_add_number(reply, "drops", (double)(uint32_t)(socket_drops(session->fds[0]) - receiver.drops));
}

void finish_udp_stream(struct client *client, const struct fields *reply, struct result *result)
{
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
