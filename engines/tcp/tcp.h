/* The parts of rail-tcp: what client and server do in each mode on a data connection. */
#ifndef RAIL_TCP_H
#define RAIL_TCP_H

#include "source.h"

#include "../lib/network.h"

#define BYTES_LIMIT 1e18 /* no replication moves as much */

/* What is named prepare_... is done before the client is told to send. */

/* Mode stream. */
void send_tcp_stream(struct client *client, const struct source *source,
                     const struct trial *trial, struct fields *end, struct result *result);
void prepare_tcp_receiver(const struct session *session);
void receive_tcp_stream(struct session *session, const struct trial *trial, const int fds[],
                        struct fields *reply);
void finish_tcp_stream(struct client *client, const struct fields *reply, struct result *result);

/* Mode bidirectional. */
void run_tcp_bidirectional(struct client *client, const struct source *source,
                           const struct trial *trial, struct fields *end, struct result *result);
void prepare_tcp_bidirectional(const struct session *session);
void serve_tcp_bidirectional(struct session *session, const struct trial *trial, const int fds[],
                             struct fields *reply);
void finish_tcp_bidirectional(struct client *client, const struct fields *reply,
                              struct result *result);

/* Mode latency. */
void measure_tcp_round_trips(struct client *client, const struct trial *trial, struct fields *end,
                             struct result *result);
void prepare_tcp_echo(const struct session *session);
void echo_messages(struct session *session, const struct trial *trial, const int fds[],
                   struct fields *reply);
void finish_tcp_round_trips(struct client *client, const struct fields *reply,
                            struct result *result);

/* Mode connect. */
void measure_connects(struct client *client, const struct trial *trial, struct fields *end,
                      struct result *result);
void finish_connects(const struct fields *reply, struct result *result);
void prepare_accepting(struct session *session, const struct trial *trial);
void finish_accepting(struct session *session, const struct trial *trial, struct fields *reply);

/* A call on the data connection made no progress, since then. Returns if the peer is only slow,
 * for at most half a minute; every other reason fails. what: "send" or "receive". */
void stalled(int control, int error, uint64_t since, const char *what);

/* Waits until a connection can go on (POLLIN or POLLOUT), a second at most; false if it cannot. */
bool wait_ready(int fd, short events);

#endif
