/* UDP in one direction: the client sends, the server counts what arrives. */
#include "arrivals.h"
#include "receiver.h"
#include "sender.h"

#include "../lib/failure.h"
#include "../lib/intervals_format.h"
#include "../lib/parameters.h"
#include "../lib/tracing.h"

/* One for each process. */
static struct sender_group sender_group;
static struct receiver_group receiver_group;

static void measure(struct client *client, const struct trial *trial, struct fields *end,
                    struct result *result)
{
    sender_group_run(&sender_group, client, trial, result);
    add_sent(&sender_group, end, "sent");
}

static void prepare(struct session *session, const struct trial *trial)
{
    receiver_group.launch = &session->launch;
    receiver_group.trial = trial;
    receiver_group.fds = session->fds;
    receiver_group.control = session->control;
    receiver_group.session = session;
    prepare_arrivals(&receiver_group);
    receiver_group_prepare(&receiver_group, true, 0);
}

static void serve(struct session *session, const struct trial *trial, struct fields *reply)
{
    struct task tasks[MAX_THREADS];
    receiver_group_tasks(&receiver_group, tasks, 0);
    struct usage usage = team_run(&session->launch, true, tasks, receiver_group.count);
    struct reception reception = receiver_group_done(&receiver_group, &usage);
    usage.elapsed = reception.elapsed;
    add_usage(reply, &usage);
    add_reception(reply, &reception);
    if (trial->omit > 0)
        add_omitted(reply, &reception.omitted);
    offer_arrivals(session, &receiver_group, &reception, reply);
    offer_intervals(session, receiver_group_intervals(&receiver_group), reply);
}

static void finish(struct client *client, const struct fields *reply, struct result *result)
{
    uint64_t sent = (uint64_t)result_get(result, "sent_packets");
    struct reception reception = take_reception(reply, sent);
    if (sender_group.trial->omit > 0) {
        double size = number_of(client->launch, "datagram");
        struct omitted omitted = sender_group_omitted(&sender_group, &(struct usage){0});
        double received = set_omitted(result, reply, &omitted);
        if (received > omitted.bytes)
            fail(BAD_PEER, "the other end received more in the omitted part than was sent");
        result_set(result, "omitted_sent_packets", omitted.bytes / size);
        result_set(result, "omitted_lost_packets", (omitted.bytes - received) / size);
    }
    reception_result(client->launch, &reception, "", sent, result);
    result_set(result, "server_polling_time", reception.polled);
}

/* Both ends' intervals, if they were asked for. How much was lost of the omitted part's end, only
 * the client knows. */
static void fetch_intervals(struct client *client, const struct trial *trial,
                            const struct fields *reply, const struct result *result)
{
    struct intervals *sent = sender_group_intervals(&sender_group);
    struct intervals *received = receiver_group_intervals(
        &(struct receiver_group){.launch = client->launch, .trial = trial});
    double size = number_of(client->launch, "datagram"), omitted = 0, lost = 0;
    if (sent->length == 0)
        return;
    receive_intervals(client, reply, received);
    const uint64_t *before = intervals_omitted(received), *last = intervals_last(received);
    if (before) {
        omitted = result_get(result, "omitted_received_bytes") / size;
        lost = result_get(result, "omitted_lost_packets");
    }
    bool agrees = before == NULL || ((double)before[0] == omitted && (double)before[1] <= lost);
    if (agrees && before)
        intervals_raise(received, true, 1, (uint64_t)lost - before[1]);
    if (!agrees || (double)last[0] != omitted + result_get(result, "received_packets") ||
        (double)last[1] != lost + result_get(result, "lost_packets"))
        fail(BAD_PEER, "the server's series does not agree with the datagrams that it received");
    show_intervals(client->launch, trial, (const struct intervals *[]){sent, received}, 2);
}

static void fetch(struct client *client, const struct trial *trial, const struct fields *reply,
                  struct result *result)
{
    uint64_t sent = (uint64_t)result_get(result, "sent_packets");
    struct reception reception = take_reception(reply, sent);
    finish_arrivals(client, trial, reply, &reception, result);
    fetch_intervals(client, trial, reply, result);
}

const struct udp_mode udp_stream = {
    .name = "stream",
    .client_streams = true,
    .traced = true,
    .open = open_udp_client,
    .measure = measure,
    .finish = finish,
    .fetch = fetch,
    .prepare = prepare,
    .serve = serve,
};
