/* TCP in one direction: the client sends as fast as it can, the server reads to the end. */
#include "connections.h"
#include "directions.h"
#include "info.h"
#include "tcp.h"
#include "sampler.h"

#include "../lib/failure.h"
#include "../lib/intervals_format.h"
#include "../lib/parameters.h"
#include "../lib/report.h"
#include "../lib/team.h"
#include "../lib/tracing.h"
#include "../lib/under_rate.h"

static struct sender senders[MAX_THREADS];
static struct receiver receivers[MAX_THREADS];

size_t sender_tasks(struct sender *sender, struct task *tasks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tasks[i] = (struct task){send_flow, &sender[i], (int)i};
    return count;
}

size_t receiver_tasks(struct receiver *receiver, struct task *tasks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tasks[i] = (struct task){receive_flow, &receiver[i], (int)i};
    return count;
}

static void set_copied_share(const struct sender *sender, size_t count, struct result *result)
{
    uint64_t completed = 0, copied = 0;
    for (size_t i = 0; i < count; i++) {
        completed += sender[i].writer.zerocopy.completed;
        copied += sender[i].writer.zerocopy.copied;
    }
    set_zerocopy_copied(result, completed, copied);
}

void take_sent(const struct sender *sender, size_t count, struct usage usage,
               struct fields *end, struct result *result)
{
    double bytes = (double)sent_bytes(sender, count);
    double omitted = sum_omitted(sender, count, &usage).bytes;
    usage.elapsed = sending_seconds(sender, count);
    result_set_usage(result, "client", &usage);
    result_set(result, "local_throughput", bytes * 8 / usage.elapsed);
    result_set(result, "sent_bytes", bytes);
    result_set(result, "sent_messages", (double)sent_messages(sender, count));
    set_copied_share(sender, count, result);
    fields_add_number(end, "sent", omitted + bytes);
}

void note_rate(const struct launch *launch, const struct trial *trial, const char *side,
               double throughput)
{
    struct achieved achieved = {
        .replication = trial->number,
        .side = side,
        .throughput = throughput,
        .due = throughput,
        .advice = "use more threads, or larger socket buffers",
    };
    warn_under_rate(launch, &achieved);
}

void take_received(const struct client *client, const struct sender *sender,
                   const struct fields *reply, struct result *result)
{
    uint64_t windows[MAX_THREADS];
    size_t count = connections_of(client->launch);
    uint64_t received = fields_count(reply, "received", BYTES_LIMIT);
    struct reception sum = {.bytes = received,
                            .timed = fields_count(reply, "timed", (double)received),
                            .elapsed = fields_number(reply, "elapsed", 0, 1e9)};
    struct omitted own = sum_omitted(sender, count, &(struct usage){0});
    if (sender->omit > 0) {
        sum.omitted.bytes = set_omitted(result, reply, &own);
        result_set(result, "omitted_retransmits", (double)own.retransmits);
        if (own.segments > 0)
            result_set(result, "omitted_sent_segments", (double)own.segments);
    }
    result_set(result, "throughput",
               rate_of(result, &sum, result_get(result, "sent_bytes") + own.bytes));
    result_set(result, "received_bytes", (double)sum.bytes);
    result_set(result, "untimed_bytes", (double)(sum.bytes - sum.timed));
    take_windows(reply, windows, count);
    struct path path = path_of(sender, windows, count);
    set_path(result, &path, client->launch->link_rate);
}

static void measure(struct client *client, const struct trial *trial, struct fields *end,
                    struct result *result)
{
    size_t count = connections_of(client->launch);
    struct task tasks[MAX_THREADS];
    prepare_senders(senders, client->launch, false, count);
    set_senders(senders, client->launch, client->fds, client->control, trial, count);
    sender_tasks(senders, tasks, count);
    struct sampler sampler;
    sampler_start(&sampler, client->launch, senders, count);
    struct usage usage = team_run(client->launch, false, tasks, count);
    sampler_stop(&sampler);
    wait_until_sent(senders, count);
    take_sent(senders, count, usage, end, result);
    note_rate(client->launch, trial, "client", result_get(result, "local_throughput"));
}

static void prepare(struct session *session, const struct trial *trial)
{
    (void)trial;
    prepare_receivers(receivers, &session->launch, true, 0, connections_of(&session->launch));
}

static void serve(struct session *session, const struct trial *trial, const int fds[],
                  struct fields *reply)
{
    size_t count = connections_of(&session->launch);
    struct task tasks[MAX_THREADS];
    set_receivers(receivers, fds, session->control, trial, count);
    receiver_tasks(receivers, tasks, count);
    struct usage usage = team_run(&session->launch, true, tasks, count);
    struct reception sum = sum_received(receivers, count, &usage);
    usage.elapsed = sum.elapsed;
    add_usage(reply, &usage);
    add_received(reply, &sum);
    if (trial->omit > 0)
        add_omitted(reply, &sum.omitted);
    add_windows(reply, fds, count);
    offer_intervals(session, received_intervals(&session->launch, trial, receivers, count), reply);
}

static void finish(struct client *client, const struct fields *reply, struct result *result)
{
    take_received(client, senders, reply, result);
}

/* Both ends' intervals, if they were asked for. */
static void fetch(struct client *client, const struct trial *trial, const struct fields *reply,
                  const struct result *result)
{
    size_t count = connections_of(client->launch);
    struct intervals *sent =
        sent_intervals(senders, trial, (uint64_t)result_get(result, "retransmits"), count);
    if (sent->length == 0)
        return;
    struct intervals *received = received_intervals(client->launch, trial, receivers, 0);
    receive_intervals(client, reply, received);
    double omitted = trial->omit > 0 ? result_get(result, "omitted_received_bytes") : 0;
    uint64_t *before = intervals_omitted(received);
    if ((double)*intervals_last(received) != omitted + result_get(result, "received_bytes") ||
        (before && (double)*before != omitted))
        fail(BAD_PEER, "the server's series does not agree with the bytes that it received");
    show_intervals(client->launch, trial, (const struct intervals *[]){sent, received}, 2);
}

const struct tcp_mode tcp_stream = {
    .name = "stream",
    .measure = measure,
    .finish = finish,
    .fetch = fetch,
    .prepare = prepare,
    .serve = serve,
};
