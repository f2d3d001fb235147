/* The parts of rail-udp: what client and server do in each mode. */
#ifndef RAIL_UDP_H
#define RAIL_UDP_H

#include "../lib/network.h"

#define COUNT_LIMIT 1000000000000000   /* no replication has that many datagrams */
#define STALL_NS (10 * NANOSECONDS)    /* no progress for so long is a failure */
#define DRAIN_NS (NANOSECONDS / 5)     /* silence after which nothing more will come */

/* What is named prepare_... is done before the client is told to send. */

/* Test sockets, as many as threads. */
void open_udp_client(struct client *client, struct fields *settings);
void open_udp_session(struct session *session, struct fields *settings);
/* A generator's, connected to nobody, so that no answer of its target can stop it. */
void open_udp_generator(struct client *client, struct fields *settings);
/* Other sockets with other ports: what is still on its way to the old ones goes nowhere. */
void renew_udp_client(struct client *client);
/* True if the mode's datagrams go from the client to the server, as streams. */
bool is_udp_stream(const struct launch *launch);
/* The session talks to the client's sockets only, and forgets what came earlier. */
void ready_udp_session(const struct session *session, const struct trial *trial);

/* Mode stream. */
void send_udp_stream(struct client *client, const struct trial *trial, struct fields *end,
                     struct result *result);
void prepare_udp_receiver(struct session *session, const struct trial *trial);
void receive_udp_stream(struct session *session, struct fields *reply);
void finish_udp_stream(struct client *client, const struct fields *reply, struct result *result);
void fetch_udp_trace(struct client *client, const struct trial *trial, const struct fields *reply,
                     struct result *result);

/* Mode bidirectional. */
void exchange_udp_streams(struct client *client, const struct trial *trial, struct fields *end,
                          struct result *result);
void prepare_udp_exchange(struct session *session, const struct trial *trial);
void answer_udp_streams(struct session *session, struct fields *reply);
void finish_udp_exchange(struct client *client, const struct fields *reply, struct result *result);

/* Mode generator. */
void generate_udp(struct client *client, const struct trial *trial, struct result *result);

/* Mode latency. */
void measure_udp_round_trips(struct client *client, const struct trial *trial, struct fields *end,
                             struct result *result);
void prepare_udp_echo(struct session *session, const struct trial *trial);
void echo_datagrams(struct session *session, const struct trial *trial, struct fields *reply);

/* A send or receive call on the client's test socket failed: ends in fail(). */
_Noreturn void datagrams_failed(int control, int error);

#endif
