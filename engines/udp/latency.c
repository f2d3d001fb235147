/* UDP back and forth: one datagram at a time, each timed by the client. */
#include "udp.h"

#include "../lib/control.h"
#include "../lib/failure.h"
#include "../lib/histogram.h"
#include "../lib/memory.h"
#include "../lib/packet.h"
#include "../lib/parameters.h"

#include <errno.h>
#include <string.h>

#define ANSWER_LIMIT_NS NANOSECONDS /* a round trip longer than this is lost */

/* Waits for the echo of that number; returns its arrival, 0 if it did not come in time. */
static uint64_t wait_for_echo(struct client *client, const unsigned char *packet,
                              unsigned char *answer, size_t size, uint64_t sent_at)
{
    for (;;) {
        ssize_t got = recv(client->fds[0], answer, size + 1, 0);
        uint64_t now = now_ns();
        if (got == (ssize_t)size && memcmp(answer, packet, 16) == 0)
            return now;
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            datagrams_failed(client->control, errno);
        if (now - sent_at >= ANSWER_LIMIT_NS)
            return 0;
    }
}

void measure_udp_round_trips(struct client *client, const struct trial *trial, struct fields *end,
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
        if (send(client->fds[0], packet, size, 0) < 0 && errno != ENOBUFS && errno != EAGAIN &&
            errno != EINTR)
            datagrams_failed(client->control, errno);
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

/* One for each session, which is a process. */
static unsigned char *echoed;

void prepare_udp_echo(const struct session *session)
{
    if (echoed == NULL)
        echoed = test_buffer(size_of(&session->launch, "datagram") + 1);
}

void echo_datagrams(struct session *session, const struct trial *trial, struct fields *reply)
{
    struct usage usage;
    size_t size = size_of(&session->launch, "datagram");
    uint64_t limit = trial_limit(trial, GRACE_SECONDS), quiet_since = now_ns();
    usage_begin(&usage);
    for (;;) {
        ssize_t got = recv(session->fds[0], echoed, size + 1, 0);
        uint64_t now = now_ns();
        if (got == (ssize_t)size && get_be64(echoed) == trial->token) {
            send(session->fds[0], echoed, size, 0); /* one that fails is lost, as the client sees */
            quiet_since = now;
        } else if (got < 0 && session_end_arrived(session)) {
            break;
        }
        if (now > limit || now - quiet_since > seconds_ns(GRACE_SECONDS))
            fail(NO_ANSWER, "the client did not end in time");
    }
    usage_end(&usage);
    add_usage(reply, &usage);
}
