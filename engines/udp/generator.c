/* UDP to a host that runs no server of ours: at a given rate, for a given time. */
#include "sender.h"

static void measure(struct client *client, const struct trial *trial, struct fields *end,
                    struct result *result)
{
    (void)end;
    static struct sender_group sender_group;
    struct task tasks[MAX_THREADS];
    struct trial timed = *trial;
    timed.count = 0;
    sender_group.launch = client->launch;
    sender_group.trial = &timed;
    sender_group.fds = client->fds;
    sender_group.control = client->control;
    sender_group.to = &client->server;
    sender_group_prepare(&sender_group);
    sender_group_tasks(&sender_group, tasks, 0);
    struct usage usage = team_run(client->launch, false, tasks, sender_group.count);
    usage.elapsed = sender_group_done(&sender_group).elapsed;
    result_set_usage(result, "client", &usage);
    sender_group_result(&sender_group, result);
}

const struct udp_mode udp_generator = {
    .name = "generator",
    .client_streams = true,
    .needs_rate = true,
    .open = open_udp_unconnected,
    .measure = measure,
};
