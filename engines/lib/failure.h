/* Every way to fail: one table of stable codes, and one way out of the process. */
#ifndef RAIL_FAILURE_H
#define RAIL_FAILURE_H

#include <stdbool.h>

#define MESSAGE_LIMIT 1024 /* longest sentence, with its final zero */

/* clang-format off */
#define FAILURES(X)                                                                        \
    X(BAD_PARAMETER,      "bad-parameter")      /* an argument is wrong; exit status 2 */  \
    X(BAD_PEER,           "bad-peer")           /* the other end broke the protocol */     \
    X(BAD_SECRET,         "bad-secret")         /* the two ends' secrets differ */         \
    X(BUSY,               "busy")               /* the server is serving another client */ \
    X(COMMAND_FAILED,     "command-failed")     /* rail-exec: not exit status 0 */         \
    X(COMMAND_NOT_FOUND,  "command-not-found")  /* rail-exec: it could not be started */   \
    X(COMMAND_TIMEOUT,    "command-timeout")    /* rail-exec: killed after --timeout */    \
    X(CONGESTION_REFUSED, "congestion-refused") /* the kernel refused the algorithm */     \
    X(CONNECT_TIMEOUT,    "connect-timeout")    /* nothing answered a connection */        \
    X(CONNECTION_REFUSED, "connection-refused") /* nothing listens there */                \
    X(DEADLINE,           "deadline")           /* the process outlived --deadline */      \
    X(FILE_CHANGED,       "file-changed")       /* rail-tcp: cut while it was sent */      \
    X(FILE_UNUSABLE,      "file-unusable")      /* unreadable, empty, or none there */     \
    X(FORGED,             "forged")             /* a message without a valid seal */       \
    X(LIMIT_EXCEEDED,     "limit-exceeded")     /* more than the server allows */          \
    X(MPI_FAILED,         "mpi-failed")         /* rail-mpi: an MPI call failed */         \
    X(NAME_IN_USE,        "name-in-use")        /* a watcher's: another one has it */      \
    X(NO_ANSWER,          "no-answer")          /* the other end went silent */            \
    X(NO_BUFFERS,         "no-buffers")         /* the kernel kept refusing to send */     \
    X(NO_DATA,            "no-data")            /* not one packet arrived */               \
    X(NO_IO_URING,        "no-io-uring")        /* rail-disk: the kernel has none for us */\
    X(NO_PORTS,           "no-ports")           /* all local ports are taken */            \
    X(NO_SPACE,           "no-space")           /* the file system or a quota is full */   \
    X(NOT_ALLOWED,        "not-allowed")        /* from an address not in --allow */       \
    X(NOT_IDLE,           "not-idle")           /* rail-soak: others use the CPUs */       \
    X(NOT_PERMITTED,      "not-permitted")      /* the kernel forbids it to this user */   \
    X(OUT_OF_MEMORY,      "out-of-memory")                                                 \
    X(OVERLOADED,         "overloaded")         /* the asked pace cannot be held */        \
    X(PEER_LOST,          "peer-lost")          /* the other end died or hung up */        \
    X(PORT_IN_USE,        "port-in-use")                                                   \
    X(SHORT_COUNT,        "short-count")        /* TCP: received is not what was sent */   \
    X(SOAK_BUSY,          "soak-busy")          /* another rail-soak on this machine */    \
    X(SYSTEM_ERROR,       "system-error")       /* any other system call that failed */    \
    X(TARGET_REFUSED,     "target-refused")     /* traffic to a host that isn't ours */    \
    X(TOO_SHORT,          "too-short")          /* too little arrived to measure a rate */ \
    X(TRANSPORT_UNAVAILABLE, "transport-unavailable") /* MPI uses another than asked for */\
    X(UNKNOWN_HOST,       "unknown-host")                                                  \
    X(UNREACHABLE,        "unreachable")        /* no route to the host */                 \
    X(VERSION_MISMATCH,   "version-mismatch")   /* the two ends speak different versions */\
    X(WRONG_COUNT,        "wrong-count")        /* rail-mpi: ranks that the mode cannot use */\
    X(WRONG_DATA,         "wrong-data")         /* other bytes arrived than were sent */   \
    X(WRONG_ENGINE,       "wrong-engine")       /* rail-udp talking to rail-tcp, ... */    \
    X(WRONG_RANK,         "wrong-rank")         /* rail-mpi: started on another host */    \
    X(WRONG_RESULT,       "wrong-result")       /* rail-cpu: miscomputed */
/* clang-format on */

enum failure {
#define X(symbol, code) symbol,
    FAILURES(X)
#undef X
};

const char *failure_code(enum failure failure);

/* The failure that a peer named, BAD_PEER if it made the name up. */
enum failure failure_named(const char *code);

/* Who reports a failure before the process ends: a client prints it, a session sends it to its
 * client. Until one is set, the sentence goes to standard error. */
typedef void failure_sink(enum failure failure, const char *message);
void failures_go_to(failure_sink *sink);

/* Keeps standard output from all other threads until the process ends, so that nothing follows a
 * failure; false if one of them is stuck writing. */
bool seize_output(void);

/* Tells the sink and ends the process with status 1, or 2 for a bad parameter. */
_Noreturn void fail(enum failure failure, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
