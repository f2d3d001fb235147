/* TCP in one direction: the client sends as fast as it can, the server reads to the end. */
#include "flow.h"
#include "tcp.h"

#include "connections.h"

#include "../lib/failure.h"
#include "../lib/parameters.h"
#include "../lib/team.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>

static struct sending senders[MAX_THREADS];
static struct receiving receivers[MAX_THREADS];

void send_tcp_stream(struct client *client, const struct trial *trial, struct fields *end,
                     struct result *result)
{
    size_t count = connections_of(client->launch);
    struct task tasks[MAX_THREADS];
    prepare_senders(senders, client->launch, count);
    set_senders(senders, client->fds, client->control, trial, count);
    for (size_t i = 0; i < count; i++)
        tasks[i] = (struct task){send_flow, &senders[i], (int)i};
    struct usage usage = team_run(client->launch, false, tasks, count);
    wait_until_sent(senders, count);
    double bytes = (double)sent_bytes(senders, count);
    result_set_usage(result, "client", &usage);
    result_set(result, "local_throughput", bytes * 8 / usage.elapsed);
    result_set(result, "sent_bytes", bytes);
    result_set(result, "sent_messages", (double)sent_messages(senders, count));
    fields_add_number(end, "sent", bytes);
}

void prepare_tcp_receiver(const struct session *session)
{
    prepare_receivers(receivers, &session->launch, connections_of(&session->launch));
}

void receive_tcp_stream(struct session *session, const struct trial *trial, const int fds[],
                        struct fields *reply)
{
    size_t count = connections_of(&session->launch);
    struct task tasks[MAX_THREADS];
    set_receivers(receivers, fds, session->control, trial, count);
    for (size_t i = 0; i < count; i++)
        tasks[i] = (struct task){receive_flow, &receivers[i], (int)i};
    struct usage usage = team_run(&session->launch, true, tasks, count);
    struct received sum = sum_received(receivers, count);
    usage.elapsed = sum.elapsed;
    add_usage(reply, &usage);
    fields_add_number(reply, "received", (double)sum.bytes);
    fields_add_number(reply, "timed", (double)sum.timed);
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
