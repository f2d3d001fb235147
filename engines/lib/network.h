/* The shape of every engine that measures between two hosts: what a client and a server do around
 * the engine's own test. The engine fills in struct network. */
#ifndef RAIL_NETWORK_H
#define RAIL_NETWORK_H

#include "fields.h"
#include "result.h"
#include "seal.h"
#include "sockets.h"

#define MAX_THREADS 64 /* streams side by side */

/* One replication, as both ends know it. */
struct trial {
    long number; /* 0: a warm-up */
    bool warmup;
    double omit; /* s, before what counts */
    double duration;
    uint64_t count;    /* 0: by duration */
    double longest;    /* server: seconds that it allows; client: 0 */
    uint64_t token;    /* in every packet, so that nothing else is taken for data */
    int ports[MAX_THREADS]; /* UDP: where the client's test sockets are */
};

/* No replication: only a look at what the kernels grant. */
static inline bool is_probe(const struct trial *trial)
{
    return trial->duration <= 0 && trial->count == 0;
}

/* The client's side of one launch. */
struct client {
    const struct launch *launch;
    int control;
    struct address server; /* with the first test port */
    int ports[MAX_THREADS]; /* the server's test ports; as many as there are, then 0 */
    int fds[MAX_THREADS];  /* test sockets that live from replication to replication; or -1 */
};

/* The server's side: a process of its own for each client. */
struct session {
    struct launch launch; /* the parameters are the client's */
    int control;
    struct address local, peer; /* of the control connection */
    int fds[MAX_THREADS]; /* test sockets; or -1 */
    bool ended; /* the client's END has come; what it says: */
    struct fields end;
    unsigned char *trace; /* encoded, of the replication that was measured last; NULL: none */
    size_t trace_length;
};

struct network {
    /* Opens the test sockets and adds what the kernel granted; may add to what the server said. */
    void (*client_open)(struct client *, struct fields *settings, struct fields *server);
    /* Makes the test sockets ready, before the server is sent the replication; may be NULL. */
    void (*client_ready)(struct client *);
    /* Runs the client's part and reports to the server in end what was sent. In a solo mode there
     * is no server: client->control is -1 and end goes nowhere. */
    void (*client_measure)(struct client *, const struct trial *, struct fields *end,
                           struct result *);
    /* Takes over what the server found. */
    void (*client_finish)(struct client *, const struct fields *reply, struct result *);
    /* Fetches what the server keeps for later, which is no traffic of the replication; may be
     * NULL. */
    void (*client_fetch)(struct client *, const struct trial *, const struct fields *reply,
                         struct result *);
    /* Opens the server's test sockets; settings say their ports (add_ports) and what was
     * granted. */
    void (*session_open)(struct session *, struct fields *settings);
    /* Makes the test sockets ready for the client's data; may be NULL. */
    void (*session_ready)(struct session *, const struct trial *);
    /* Runs the server's part, until the client's END and until everything has arrived. */
    void (*session_measure)(struct session *, const struct trial *, struct fields *reply);
};

#define ANSWER_SECONDS 10.0 /* a peer that computes nothing answers within this */
#define RESULT_SECONDS 30.0 /* draining included */
#define GRACE_SECONDS 30.0  /* beyond a replication's duration */
#define LEAST_SECONDS 1e-9  /* a tick of now_ns(): what a peer says took less has no rate */

/* Tells the server of a replication and waits until it is ready; what it says then. Sets the
 * trial's token. */
void start_trial(struct client *client, struct trial *trial, struct fields *ready);

int network_client(const struct launch *launch, const struct network *network);
int network_server(const struct launch *launch, const struct network *network);

/* Serves one client that proved to have the secret; ends the process. */
_Noreturn void serve_session(const struct launch *launch, const struct network *network,
                             int control, const struct seal *seal);

/* True once the client's END is here; fails if the client is gone. Costs a system call. */
bool session_end_arrived(struct session *session);

/* Test ports as a field of that name, and back; unused places are 0. */
void add_ports(struct fields *fields, const char *name, const int ports[MAX_THREADS]);
void take_ports(const struct fields *fields, const char *name, int ports[MAX_THREADS]);

/* Asks for the trace that the server says it has (trace_bytes in reply): the bytes, to be freed;
 * NULL if it has none. They are the peer's: trace_decode checks them. */
unsigned char *receive_trace(struct client *client, const struct fields *reply, size_t *length);

/* Tells the client in reply that there is a trace, which session->trace holds; or that there is
 * none. */
void offer_trace(struct session *session, struct fields *reply, unsigned char *trace,
                 size_t length);

/* The moment when a replication is over at the latest. */
uint64_t trial_limit(const struct trial *trial, double grace);

/* The server's usage as fields, and back into the result. */
void add_usage(struct fields *fields, const struct usage *usage);

#endif
