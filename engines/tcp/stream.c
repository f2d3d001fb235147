/* TCP in one direction: the client sends as fast as it can, the server reads to the end. */
#include "tcp.h"

#include "../lib/failure.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"

#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>

#define DRAIN_SECONDS 600.0 /* beyond its duration, for what lies in the sender's buffer */
#define STREAM_READ 131072 /* the receiver asks for so much unless told */

/* Waits until the other end's kernel has everything: over a slow link a full socket buffer takes
 * its time, and only standing still is a failure. */
static void wait_until_sent(struct client *client)
{
    uint64_t since = now_ns();
    int left = 0, before = INT_MAX;
    while (ioctl(client->fds[0], SIOCOUTQ, &left) == 0 && left > 0) {
        if (left < before)
            since = now_ns();
        before = left;
        stalled(client->control, EAGAIN, since, "send");
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
}

void send_tcp_stream(struct client *client, const struct trial *trial, struct fields *end,
                     struct result *result)
{
    static unsigned char *data;
    size_t message = size_of(client->launch, "message"), chunk = size_of(client->launch, "write");
    struct usage usage;
    if (chunk == 0 || chunk > message)
        chunk = message;
    if (data == NULL)
        data = test_buffer(chunk);
    size_t left = message; /* of the message under way */
    uint64_t bytes = 0, messages = 0, now = now_ns(), progress = now;
    uint64_t stop = now + seconds_ns(trial->duration);
    usage_begin(&usage);
    while (trial->count ? messages < trial->count : now < stop) {
        ssize_t step = send(client->fds[0], data, chunk < left ? chunk : left, MSG_NOSIGNAL);
        now = now_ns();
        if (step <= 0) {
            stalled(client->control, errno, progress, "send");
            continue;
        }
        progress = now;
        bytes += (uint64_t)step;
        left -= (size_t)step;
        if (left == 0) {
            messages++;
            left = message;
        }
    }
    usage_end(&usage);
    shutdown(client->fds[0], SHUT_WR);
    wait_until_sent(client);
    result_set_usage(result, "client", &usage);
    result_set(result, "local_throughput", (double)bytes * 8 / usage.elapsed);
    result_set(result, "sent_bytes", (double)bytes);
    result_set(result, "sent_messages", (double)messages);
    fields_add_number(end, "sent", (double)bytes);
}

static size_t stream_read_size(const struct launch *launch)
{
    size_t asked = size_of(launch, "read");
    return asked ? asked : STREAM_READ;
}

/* One for each session, which is a process. */
static unsigned char *incoming;

void prepare_tcp_receiver(const struct session *session)
{
    if (incoming == NULL)
        incoming = test_buffer(stream_read_size(&session->launch));
}

void receive_tcp_stream(struct session *session, const struct trial *trial, int fd,
                        struct fields *reply)
{
    size_t chunk = stream_read_size(&session->launch);
    uint64_t first_at = 0, last_at = 0, first = 0, bytes = 0, begin = now_ns();
    uint64_t limit = trial_limit(trial, DRAIN_SECONDS);
    struct usage usage;
    usage_begin(&usage);
    for (;;) {
        ssize_t step = recv(fd, incoming, chunk, 0);
        uint64_t now = now_ns();
        if (step == 0)
            break;
        if (now > limit)
            fail(NO_ANSWER, "the client did not end in time");
        if (step < 0) {
            stalled(session->control, errno, last_at ? last_at : begin, "receive");
            continue;
        }
        if (first_at == 0) {
            first_at = now;
            first = (uint64_t)step;
        }
        last_at = now;
        bytes += (uint64_t)step;
    }
    usage_end(&usage);
    usage.elapsed = ns_seconds(last_at - first_at);
    add_usage(reply, &usage);
    fields_add_number(reply, "received", (double)bytes);
    fields_add_number(reply, "timed", (double)(bytes - first));
}

void finish_tcp_stream(struct client *client, const struct fields *reply, struct result *result)
{
    double sent = result_get(result, "sent_bytes");
    double received = (double)fields_count(reply, "received", BYTES_LIMIT);
    double timed = (double)fields_count(reply, "timed", BYTES_LIMIT);
    double elapsed = fields_number(reply, "elapsed", 0, 1e9);
    if (received != sent)
        fail(SHORT_COUNT, "sent %.0f bytes, %.0f arrived", sent, received);
    if (elapsed <= 0 || timed <= 0)
        fail(TOO_SHORT, "all %.0f bytes arrived in one read, which has no rate: send more",
             received);
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (getsockopt(client->fds[0], IPPROTO_TCP, TCP_INFO, &info, &length) != 0)
        fail(SYSTEM_ERROR, "cannot read TCP_INFO: %s", strerror(errno));
    result_set(result, "throughput", timed * 8 / elapsed);
    result_set(result, "received_bytes", received);
    result_set(result, "retransmits", info.tcpi_total_retrans);
}
