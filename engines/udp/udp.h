/* The parts of rail-udp: what client and server do in each mode. */
#ifndef RAIL_UDP_H
#define RAIL_UDP_H

#include "../lib/network.h"

#define LARGEST 65507                  /* payload of one send */
#define COUNT_LIMIT 1000000000000000   /* no replication has that many datagrams */
#define STALL_NS (10 * NANOSECONDS)    /* no progress for so long is a failure */
#define DRAIN_NS (NANOSECONDS / 5)     /* of silence, where nothing is known of the path */
#define WAIT_MS 10                     /* in a call, or for a socket that doesn't block */

/* A way to measure. A row's functions are NULL where it has nothing to do there. */
struct udp_mode {
    const char *name;
    bool client_streams, server_streams; /* the end sends streams, which the other one receives */
    bool echoed;                         /* the server returns each datagram at once */
    bool traced;                         /* the server can record each arrival */
    bool needs_rate;                     /* it may not send as fast as it can */
    /* Client: opens the test sockets, once a launch. */
    void (*open)(struct client *, struct fields *settings);
    /* Client: one replication. Reports to the server in end what was sent. */
    void (*measure)(struct client *, const struct trial *, struct fields *end, struct result *);
    /* Client: adds the server's part to the result. */
    void (*finish)(struct client *, const struct fields *reply, struct result *);
    /* Client: likewise, what is too large for the reply; after the replication's end. */
    void (*fetch)(struct client *, const struct trial *, const struct fields *reply,
                  struct result *);
    /* Server: before the client begins to send. NULL, and serve too: the mode has no server. */
    void (*prepare)(struct session *, const struct trial *);
    /* Server: one replication, until the client's END and until everything has arrived. */
    void (*serve)(struct session *, const struct trial *, struct fields *reply);
};

extern const struct udp_mode udp_stream, udp_bidirectional, udp_latency, udp_generator;

/* The row of the launch's mode. */
const struct udp_mode *udp_mode_of(const struct launch *launch);

/* Test sockets, as many as threads, each connected to one of the other end's. */
void open_udp_client(struct client *client, struct fields *settings);
void open_udp_session(struct session *session, struct fields *settings);
/* Connected to nobody, so that no answer of the target can stop the client. */
void open_udp_unconnected(struct client *client, struct fields *settings);
/* Other sockets with other ports: what is still on its way to the old ones goes nowhere. */
void renew_udp_client(struct client *client);
/* The session receives from the client's sockets only, and drops what came earlier. */
void ready_udp_session(const struct session *session, const struct trial *trial);

/* A send or receive call on the client's test socket failed: ends in fail(). */
_Noreturn void datagrams_failed(int control, int error);

#endif
