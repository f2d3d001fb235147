/* UDP to a host that runs no server of ours: at a given rate, for a given time. */
#include "sender.h"

static void measure(struct client *client, const struct trial *trial, struct fields *end,
                    struct result *result)
{
    (void)end;
    static struct sender_group sender_group;
    struct trial timed = *trial;
    timed.count = 0;
    sender_group.to = &client->server;
    sender_group_run(&sender_group, client, &timed, result);
}

const struct udp_mode udp_generator = {
    .name = "generator",
    .client_streams = true,
    .needs_rate = true,
    .open = open_udp_unconnected,
    .measure = measure,
};
