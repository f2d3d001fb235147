/* The parts of rail-tcp: its modes, and what they have in common. */
#ifndef RAIL_TCP_H
#define RAIL_TCP_H

#include "../lib/network.h"

#define BYTES_LIMIT 1e18 /* no replication moves as much */

/* A way to measure. A replication has its own data connections, as many as threads, which are there
 * before measure and serve and closed after them. */
struct tcp_mode {
    const char *name;
    bool connects; /* the connections are what is measured: there are no data connections */
    bool echoed;   /* the server returns each message at once */
    /* Client: one replication. Reports to the server in end what was sent. */
    void (*measure)(struct client *, const struct trial *, struct fields *end, struct result *);
    /* Client: adds the server's part to the result. */
    void (*finish)(struct client *, const struct fields *reply, struct result *);
    /* Client: reports what is no part of the result; or NULL. */
    void (*fetch)(struct client *, const struct trial *, const struct fields *reply,
                  const struct result *);
    /* Server: before the client begins, and before the launch's probe. */
    void (*prepare)(struct session *, const struct trial *);
    /* Server: one replication, until everything has arrived. */
    void (*serve)(struct session *, const struct trial *, const int fds[], struct fields *reply);
};

extern const struct tcp_mode tcp_stream, tcp_bidirectional, tcp_latency, tcp_connect;

/* The row of the launch's mode. */
const struct tcp_mode *tcp_mode_of(const struct launch *launch);

/* A call on the data connection made no progress, since then. Returns if the peer is only slow,
 * for at most half a minute; every other reason fails. what: "send" or "receive". */
void handle_stall(int control, int error, uint64_t since, const char *operation);

/* Waits until a connection can go on (POLLIN or POLLOUT), a second at most; false if it cannot. */
bool wait_ready(int fd, short events);

#endif
