/* What an engine is: its tables of parameters and metrics, and what it does as client and server.
 * The tables are the only source of --describe, --help, argument parsing and range checks. */
#ifndef RAIL_ENGINE_H
#define RAIL_ENGINE_H

#include "failure.h"

#include <stdbool.h>
#include <stddef.h>

#define RAIL_VERSION "0.1.0"
#define MAX_PARAMETERS 64
#define MAX_METRICS 96
#define TEXT_LIMIT 256   /* longest text or choice value, with its final zero */
#define SECRET_LIMIT 129 /* longest secret, with its final zero */

#define CLIENTS_LIMIT 64 /* most that a server serves at once */

enum parameter_type { SIZE, TIME, RATE, INT, CHOICE, BOOL, TEXT };

/* One setting of an engine. Tables end with an entry whose name is NULL. */
struct parameter {
    const char *name;
    enum parameter_type type;
    const char *initial;   /* the default, written in base units */
    double min, max;       /* numbers only */
    const char *choices;   /* "stream|latency" */
    const char *modes;     /* modes in which it has an effect, "a|b"; NULL: all */
    const char *originals; /* the older tools' option for the same thing, for --help */
    const char *help;
    /* What cases were measured with before it was there, and stand for without it, where it has an
     * effect; NULL: all have it. */
    const char *implied;
    const char *former; /* choices by the names they had: "before=now|b=n"; NULL: none */
};

/* What may be done with a metric's values. By its unit: a rate (each /s, Hz), a time (s) or a count
 * (B). */
enum metric_kind {
    KIND_BY_UNIT,
    KIND_COUNT,
    KIND_RATIO, /* not to be averaged */
    KIND_SHARE, /* a ratio from 0 to 1, shown in % */
    KIND_COST,  /* what a unit of work takes */
    KIND_LABEL, /* a number that stands for something: no arithmetic at all */
};

/* One value an engine reports. Tables end with an entry whose name is NULL. */
struct metric {
    const char *name;
    const char *unit;   /* "bit/s", "s", "B" or "" for a count or a ratio */
    const char *better; /* higher, lower or neither */
    const char *modes;  /* modes that report it, "a|b"; NULL: all */
    const char *help;
    const char *column; /* heading in the table printed by hand; NULL: not shown there */
    double scale;       /* shown value = value / scale */
    int digits;         /* decimals shown */
    enum metric_kind kind;
    int headline; /* shown where nobody names metrics, those with small numbers first; 0: not */
    bool judged;  /* compared with a baseline where nobody names metrics */
};

struct value {
    double number;         /* all types but CHOICE and TEXT; a BOOL is 0 or 1 */
    char text[TEXT_LIMIT]; /* CHOICE and TEXT */
};

/* What a server allows (limits.h). */
enum limit {
    LIMIT_DURATION,
    LIMIT_THREADS,
    LIMIT_MEMORY,
    LIMIT_SOCKBUF,
    LIMIT_RATE,
    LIMIT_CONNECTIONS,
    LIMIT_CLIENTS,
    LIMITS
};

/* How this process was started: the launch options and every parameter's value. */
struct launch {
    const struct engine *engine;
    bool server;
    const char *host; /* the client's server */
    const char *bind; /* the server's address; NULL: all, or without a secret this host alone */
    const char *open; /* the address of a server without a secret; NULL: this host alone */
    const char *allow; /* where clients may come from, comma between; NULL: from anywhere */
    double limits[LIMITS];
    int port;
    long replications;
    double deadline; /* seconds */
    bool deadline_given;
    bool json, once, secret_from_stdin;
    const char *plan_hosts; /* addresses, comma between them: where a solo mode may send */
    bool own_network;       /* --i-own-this-network: it may send anywhere */
    double link_rate;       /* bit/s, 0: not known */
    const char *trace_out;  /* a file for the arrivals of a trace; NULL: none */
    char secret[SECRET_LIMIT];
    char **command; /* what stands after "--", ends with NULL */
    bool watch_input;           /* the end of standard input ends the process */
    const char *rank_addresses; /* rail-mpi: where the ranks have to be; NULL: anywhere */
    const char *watch;          /* who is notified of replications (lib/mark.h); NULL: nobody */
    struct value values[MAX_PARAMETERS];
    bool is_set[MAX_PARAMETERS]; /* by hand or by the plan, not by default */
};

/* In this mode the parameter has to be given. Tables end with an entry whose mode is NULL. */
struct requirement {
    const char *mode, *parameter;
};

/* A mode that stands for another one with a parameter running 1, 2, 4 ... times first, up to and
 * including the value given. Tables end with an entry whose mode is NULL. */
struct series {
    const char *mode, *becomes, *parameter;
    double first;
};

struct engine {
    const char *name;
    const char *summary;
    const struct parameter *parameters;
    const struct metric *metrics;
    int port;           /* the default control port; 0: no server, no HOST */
    bool takes_command; /* wants "-- COMMAND [ARG...]" */
    bool takes_link_rate; /* makes something of --link-rate */
    const char *solo;     /* modes "a|b" that need no server; NULL: none */
    const char *optional; /* metrics "a|b" that are there only when they could be measured */
    const struct requirement *required; /* NULL: none */
    const struct series *series;        /* NULL: none */
    const char *group; /* modes "a|b" measured among any number of ranks; NULL: none */
    const char *rows;  /* modes "a|b" whose metrics come as rows, not in the replication's event */
    int (*client)(const struct launch *);
    int (*server)(const struct launch *); /* NULL: there is none */
    /* Instead of both: every process is a rank of a job that a launcher started. */
    int (*rank)(const struct launch *);
    failure_sink *failed; /* reports failures; NULL: report_failure */
};

int engine_main(const struct engine *engine, int argc, char **argv);

#endif
