/* UDP in one direction: the client sends, the server counts what arrives. */
#include "arrivals.h"
#include "receiver.h"
#include "sender.h"

/* One for each process. */
static struct sending sending;
static struct receiving receiving;

static void measure(struct client *client, const struct trial *trial, struct fields *end,
                    struct result *result)
{
    struct task tasks[MAX_THREADS];
    sending.launch = client->launch;
    sending.trial = trial;
    sending.fds = client->fds;
    sending.control = client->control;
    sending_prepare(&sending);
    sending_tasks(&sending, tasks, 0);
    struct usage usage = team_run(client->launch, false, tasks, sending.count);
    usage.elapsed = sending_done(&sending).elapsed;
    result_set_usage(result, "client", &usage);
    sending_result(&sending, result);
    add_sent(&sending, end, "sent");
}

static void prepare(struct session *session, const struct trial *trial)
{
    receiving.launch = &session->launch;
    receiving.trial = trial;
    receiving.fds = session->fds;
    receiving.session = session;
    prepare_arrivals(&receiving);
    receiving_prepare(&receiving);
}

static void serve(struct session *session, const struct trial *trial, struct fields *reply)
{
    (void)trial;
    struct task tasks[MAX_THREADS];
    receiving_tasks(&receiving, tasks, 0);
    struct usage usage = team_run(&session->launch, true, tasks, receiving.count);
    struct reception reception = receiving_done(&receiving);
    usage.elapsed = reception.elapsed;
    add_usage(reply, &usage);
    add_reception(reply, &reception);
    offer_arrivals(session, &receiving, &reception, reply);
}

static void finish(struct client *client, const struct fields *reply, struct result *result)
{
    uint64_t sent = (uint64_t)result_get(result, "sent_packets");
    struct reception reception = take_reception(reply, sent);
    reception_result(client->launch, &reception, "", sent, result);
}

static void fetch(struct client *client, const struct trial *trial, const struct fields *reply,
                  struct result *result)
{
    uint64_t sent = (uint64_t)result_get(result, "sent_packets");
    struct reception reception = take_reception(reply, sent);
    finish_arrivals(client, trial, reply, &reception, result);
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
