/* UDP both ways at once: each end sends as in a stream, and counts what arrives. The server begins
 * with the client's first datagram. What the client says at its END and what the server answers
 * says how much each end's receivers have to wait for. */
#include "receiver.h"
#include "sender.h"

#include "../lib/parameters.h"

#include <time.h>

/* Of this process, be it a client or a session. */
static struct sender_group sender_group;
static struct receiver_group receiver_group;
static struct team *receivers; /* the client's */
static struct usage sent_usage;

static void prepare_both(const struct launch *launch, const struct trial *trial, const int *fds,
                         int control, struct session *session)
{
    sender_group.launch = receiver_group.launch = launch;
    sender_group.trial = receiver_group.trial = trial;
    sender_group.fds = receiver_group.fds = fds;
    sender_group.control = receiver_group.control = control;
    receiver_group.session = session;
    int threads = int_of(launch, "threads"); /* numbers of the server's first are its receivers' */
    sender_group_prepare(&sender_group, session != NULL, session ? threads : 0);
    receiver_group_prepare(&receiver_group, session != NULL, session ? 0 : threads);
}

/* By count one end may have done its part long before the other. */
static void wait_for_silence(const struct trial *trial)
{
    while (trial->count && receiver_group_quiet(&receiver_group) < DRAIN_NS)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static void measure(struct client *client, const struct trial *trial, struct fields *end,
                    struct result *result)
{
    struct task tasks[MAX_THREADS];
    prepare_both(client->launch, trial, client->fds, client->control, NULL);
    receiver_group_tasks(&receiver_group, tasks, (int)sender_group.count);
    receivers = team_start(client->launch, false, tasks, receiver_group.count);
    sender_group_tasks(&sender_group, tasks, 0);
    sent_usage = team_run(client->launch, false, tasks, sender_group.count);
    wait_for_silence(trial);
    sender_group_result(&sender_group, result);
    add_sent(&sender_group, end, "sent");
}

static void set_usage(const struct usage *received, struct result *result)
{
    struct usage usage = {
        .elapsed = sender_group_done(&sender_group).elapsed,
        .user = sent_usage.user + received->user,
        .system = sent_usage.system + received->system,
    };
    result_set_usage(result, "client", &usage);
}

static void finish(struct client *client, const struct fields *reply, struct result *result)
{
    const struct launch *launch = client->launch;
    uint64_t sent = (uint64_t)result_get(result, "sent_packets"), back = 0;
    receiver_group_set_sent(&receiver_group, reply, "reverse_sent");
    struct usage usage = team_join(receivers);
    set_usage(&usage, result);
    struct reception forward = take_reception(reply, sent);
    struct reception reverse = receiver_group_done(&receiver_group, &usage);
    reception_result(launch, &forward, "", sent, result);
    for (size_t i = 0; i < receiver_group.count; i++)
        back += receiver_group.sent[i];
    reception_result(launch, &reverse, "reverse_", back, result);
    result_set(result, "client_polling_time",
               reverse.polled + sender_group_done(&sender_group).spun);
    result_set(result, "server_polling_time",
               forward.polled + fields_number(reply, "spinning_time", 0, 1e9));
    double bytes = (double)back * number_of(launch, "datagram");
    double elapsed = fields_number(reply, "reverse_elapsed", 1e-9, 1e9);
    result_set(result, "reverse_sent_packets", (double)back);
    result_set(result, "reverse_sent_bytes", bytes);
    result_set(result, "reverse_local_throughput", bytes * 8 / elapsed);
    note_rate(&sender_group, "server", (double)back, bytes * 8 / elapsed);
    result_set(result, "reverse_sender_retries",
               (double)fields_count(reply, "reverse_retries", COUNT_LIMIT));
    result_set(result, "total_throughput",
               result_get(result, "throughput") + result_get(result, "reverse_throughput"));
    result_set(result, "total_local_throughput",
               result_get(result, "local_throughput") + bytes * 8 / elapsed);
}

static void prepare(struct session *session, const struct trial *trial)
{
    sender_group.first_arrived = &receiver_group.first_arrived;
    sender_group.sent_known = &receiver_group.sent_known;
    prepare_both(&session->launch, trial, session->fds, session->control, session);
}

static void serve(struct session *session, const struct trial *trial, struct fields *reply)
{
    (void)trial;
    struct task tasks[2 * MAX_THREADS];
    size_t count = receiver_group.count;
    receiver_group_tasks(&receiver_group, tasks, 0);
    sender_group_tasks(&sender_group, tasks + count, (int)count);
    struct usage usage = team_join(team_start(&session->launch, true, tasks, 2 * count));
    struct reception reception = receiver_group_done(&receiver_group, &usage);
    struct sent sent = sender_group_done(&sender_group);
    usage.elapsed = reception.elapsed;
    add_usage(reply, &usage);
    add_reception(reply, &reception);
    add_sent(&sender_group, reply, "reverse_sent");
    fields_add_number(reply, "reverse_elapsed", sent.elapsed);
    fields_add_number(reply, "spinning_time", sent.spun);
    fields_add_number(reply, "reverse_retries", (double)sent.retries);
}

const struct udp_mode udp_bidirectional = {
    .name = "bidirectional",
    .client_streams = true,
    .server_streams = true,
    .open = open_udp_client,
    .measure = measure,
    .finish = finish,
    .prepare = prepare,
    .serve = serve,
};
