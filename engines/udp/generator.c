/* UDP to a host that runs no server of ours: at a given rate, for a given time. */
#include "sender.h"

#include "../lib/parameters.h"

void generate_udp(struct client *client, const struct trial *trial, struct result *result)
{
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
