/* What modes stream and bidirectional share. */
#ifndef RAIL_TCP_DIRECTIONS_H
#define RAIL_TCP_DIRECTIONS_H

#include "flow.h"

#include "../lib/team.h"

/* A task for each connection, placed by its index; returns how many. */
size_t sender_tasks(struct sender *senders, struct task *tasks, size_t count);
size_t receiver_tasks(struct receiver *receivers, struct task *tasks, size_t count);

/* The client's sending as metrics, and as fields for the server. Its time is the senders': what
 * comes back may take longer. */
void take_sent(const struct sender *senders, size_t count, struct usage usage,
               struct fields *end, struct result *result);

/* Warns of an end that handed over less than the rate asked for. */
void note_rate(const struct launch *launch, const struct trial *trial, const char *side,
               double throughput);

/* What the server saw of it, and what the client's kernel did. */
void take_received(const struct client *client, const struct sender *senders,
                   const struct fields *reply, struct result *result);

#endif
