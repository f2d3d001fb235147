/* TCP in both directions at once on each connection: a sender and a receiver at each end. */
#include "connections.h"
#include "directions.h"
#include "info.h"
#include "tcp.h"
#include "sampler.h"

#include "../lib/failure.h"
#include "../lib/parameters.h"

static struct sender senders[MAX_THREADS];
static struct receiver receivers[MAX_THREADS];
static const struct trial *under_way; /* the client's */

static struct usage run_both(const struct launch *launch, bool server, const int fds[],
                             int control, const struct trial *trial)
{
    size_t count = connections_of(launch);
    static struct task tasks[2 * MAX_THREADS];
    set_senders(senders, launch, fds, control, trial, count);
    set_receivers(receivers, fds, control, trial, count);
    sender_tasks(senders, tasks, count);
    receiver_tasks(receivers, tasks + count, count);
    for (size_t i = 0; i < 2 * count; i++)
        tasks[i].number = (int)i;
    struct sampler sampler; /* of the client's sending: only that is reported in detail */
    if (!server)
        sampler_start(&sampler, launch, senders, count);
    struct usage usage = team_run(launch, server, tasks, 2 * count);
    if (!server)
        sampler_stop(&sampler);
    wait_until_sent(senders, count);
    return usage;
}

static void measure(struct client *client, const struct trial *trial, struct fields *end,
                    struct result *result)
{
    size_t count = connections_of(client->launch);
    prepare_senders(senders, client->launch, false, count);
    prepare_receivers(receivers, client->launch, false, count, count);
    struct usage usage = run_both(client->launch, false, client->fds, client->control, trial);
    take_sent(senders, count, usage, end, result);
    note_rate(client->launch, trial, "client", result_get(result, "local_throughput"));
    under_way = trial;
}

static void prepare(struct session *session, const struct trial *trial)
{
    (void)trial;
    size_t count = connections_of(&session->launch);
    static bool source_opened; /* a session has one launch */
    if (!source_opened)
        open_source(&session->launch, false);
    source_opened = true;
    prepare_senders(senders, &session->launch, true, count);
    prepare_receivers(receivers, &session->launch, true, count, count);
}

static void serve(struct session *session, const struct trial *trial, const int fds[],
                  struct fields *reply)
{
    size_t count = connections_of(&session->launch);
    struct usage usage = run_both(&session->launch, true, fds, session->control, trial);
    struct reception sum = sum_received(receivers, count, &usage);
    struct path path = path_of(senders, NULL, count);
    usage.elapsed = sum.elapsed;
    add_usage(reply, &usage);
    add_received(reply, &sum);
    add_windows(reply, fds, count);
    fields_add_number(reply, "reverse_sent", (double)sent_bytes(senders, count));
    fields_add_number(reply, "reverse_elapsed", sending_seconds(senders, count));
    fields_add_number(reply, "reverse_messages", (double)sent_messages(senders, count));
    fields_add_number(reply, "reverse_retransmits", (double)path.retransmits);
}

static void finish(struct client *client, const struct fields *reply, struct result *result)
{
    size_t count = connections_of(client->launch);
    struct reception back = sum_received(receivers, count, &(struct usage){0});
    double sent = (double)fields_count(reply, "reverse_sent", BYTES_LIMIT);
    take_received(client, senders, reply, result);
    double rate = rate_of(result, &back, sent);
    result_set(result, "reverse_throughput", rate);
    result_set(result, "total_throughput", rate + result_get(result, "throughput"));
    double local = sent * 8 / fields_number(reply, "reverse_elapsed", 1e-9, 1e9);
    result_set(result, "reverse_local_throughput", local);
    result_set(result, "total_local_throughput", local + result_get(result, "local_throughput"));
    note_rate(client->launch, under_way, "server", local);
    result_set(result, "reverse_sent_bytes", sent);
    result_set(result, "reverse_received_bytes", (double)back.bytes);
    result_set(result, "reverse_untimed_bytes", (double)(back.bytes - back.timed));
    result_set(result, "reverse_sent_messages",
               (double)fields_count(reply, "reverse_messages", BYTES_LIMIT));
    result_set(result, "reverse_retransmits",
               (double)fields_count(reply, "reverse_retransmits", BYTES_LIMIT));
}

const struct tcp_mode tcp_bidirectional = {
    .name = "bidirectional",
    .measure = measure,
    .finish = finish,
    .prepare = prepare,
    .serve = serve,
};
