/* The data connections of rail-tcp: `threads` of them, made anew for each replication. */
#ifndef RAIL_TCP_CONNECTIONS_H
#define RAIL_TCP_CONNECTIONS_H

#include "../lib/network.h"

/* How many data connections the mode has side by side. */
size_t connections_of(const struct launch *launch);

/* Options that must be there before connect or listen, so that the window scale fits them. */
void prepare_connection(int fd, int family, const struct launch *launch, bool server);

/* Records what the kernel granted a connection. */
void add_granted(int fd, const struct launch *launch, bool server, struct fields *settings);

/* The socket on which the server takes data connections; settings take its port. */
int listen_for_data(const struct session *session, struct fields *settings);

/* Connects number `index` of this replication: nothing but its token opens it, and once this
 * returns the server has it. */
int connect_data(struct client *client, const struct trial *trial, size_t index);

/* Connects fds[0..count) of the client. */
void connect_all(struct client *client, const struct trial *trial, size_t count);
void close_all(int fds[MAX_THREADS]);

/* Takes the client's connections 0 to count - 1, in any order, into fds by their index, and closes
 * whatever else connects. */
void accept_all(struct session *session, const struct trial *trial, int fds[MAX_THREADS],
                size_t count);

#endif
