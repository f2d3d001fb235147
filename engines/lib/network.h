/* The shape of every engine that measures between two hosts: what a client and a server do around
 * the engine's own test. The engine fills in struct network. */
#ifndef RAIL_NETWORK_H
#define RAIL_NETWORK_H

#include "fields.h"
#include "result.h"
#include "sockets.h"

/* One replication, as both ends know it. */
struct trial {
    long number; /* 0: a warm-up */
    bool warmup;
    double duration;
    uint64_t count;    /* 0: by duration */
    uint64_t token;    /* in every packet, so that nothing else is taken for data */
    int client_port;   /* UDP: where the client's test socket is */
};

/* The client's side of one launch. */
struct client {
    const struct launch *launch;
    int control;
    struct address server; /* with the test port */
    int fd;                /* the test socket, if it lives from replication to replication */
};

/* The server's side: a process of its own for each client. */
struct session {
    struct launch launch; /* the parameters are the client's */
    int control;
    struct address local, peer; /* of the control connection */
    int fd;
    bool ended; /* the client's END has come; what it says: */
    struct fields end;
};

struct network {
    /* Opens the test socket and tells what the kernel granted; may add to what the server said. */
    void (*client_open)(struct client *, struct fields *settings, struct fields *server);
    /* Runs the client's part and tells the server in end what was sent. */
    void (*client_measure)(struct client *, const struct trial *, struct fields *end,
                           struct result *);
    /* Takes over what the server found. */
    void (*client_finish)(struct client *, const struct fields *reply, struct result *);
    /* Opens the server's test socket; settings say data_port and what was granted. */
    void (*session_open)(struct session *, struct fields *settings);
    /* Makes the test socket ready for the client's data; may be NULL. */
    void (*session_ready)(struct session *, const struct trial *);
    /* Runs the server's part, until the client's END and until everything has arrived. */
    void (*session_measure)(struct session *, const struct trial *, struct fields *reply);
};

#define ANSWER_SECONDS 10.0 /* a peer that computes nothing answers within this */
#define RESULT_SECONDS 30.0 /* draining included */
#define GRACE_SECONDS 30.0  /* beyond a replication's duration */

/* Tells the server of a replication and waits until it is ready. */
void start_trial(struct client *client, const struct trial *trial);

int network_client(const struct launch *launch, const struct network *network);
int network_server(const struct launch *launch, const struct network *network);

/* Serves one client whose hello was right; ends the process. */
_Noreturn void serve_session(const struct launch *launch, const struct network *network,
                             int control);

/* True once the client's END is here; fails if the client is gone. Costs a system call. */
bool session_end_arrived(struct session *session);

/* The moment when a replication is over at the latest. */
uint64_t trial_limit(const struct trial *trial, double grace);

/* The server's usage as fields, and back into the result. */
void add_usage(struct fields *fields, const struct usage *usage);

#endif
