/* UDP to a host that runs no server of ours: at a given rate, for a given time. */
#include "sender.h"

static void measure(struct client *client, const struct trial *trial, struct fields *end,
                    struct result *result)
{
    (void)end;
    static struct sending sending;
    struct task tasks[MAX_THREADS];
    struct trial timed = *trial;
    timed.count = 0;
    sending.launch = client->launch;
    sending.trial = &timed;
    sending.fds = client->fds;
    sending.control = client->control;
    sending.to = &client->server;
    sending_prepare(&sending);
    sending_tasks(&sending, tasks, 0);
    struct usage usage = team_run(client->launch, false, tasks, sending.count);
    usage.elapsed = sending_done(&sending).elapsed;
    result_set_usage(result, "client", &usage);
    sending_result(&sending, result);
}

const struct udp_mode udp_generator = {
    .name = "generator",
    .client_streams = true,
    .needs_rate = true,
    .open = open_udp_unconnected,
    .measure = measure,
};
