/* The parts of rail-mpi: one job, seen by one of its ranks, and the modes that measure in it. */
#ifndef RAIL_MPI_ENGINE_H
#define RAIL_MPI_ENGINE_H

#include "../lib/clock.h"
#include "../lib/engine.h"
#include "../lib/failure.h"
#include "../lib/fields.h"
#include "../lib/result.h"

#include <mpi.h>

/* One MPI job, as this rank knows it. Messages go through MPI_COMM_WORLD, whose errors end the
 * process with a sentence: no call's result needs to be looked at. */
struct job {
    const struct launch *launch;
    int rank, ranks;
    int thread_level; /* as MPI granted it */
    struct usage usage; /* of the replication; begun and ended by the mode around its timed part */
};

/* One replication, the same on every rank. */
struct attempt {
    long number; /* 0: a warm-up */
    bool warmup;
    double duration; /* seconds */
    uint64_t count;  /* 0: by duration */
};

/* One of the two parts of a replication that measures single operations and then many together:
 * until that moment or, if count isn't 0, that many operations. */
struct phase {
    uint64_t stop, count, done;
};

static inline struct phase phase_begin(const struct attempt *attempt)
{
    return (struct phase){
        .stop = now_ns() + seconds_ns(attempt->duration / 2),
        .count = attempt->count,
    };
}

/* A way to measure. Every function is called on every rank, in the same order. */
struct mode {
    const char *names; /* "a|b" */
    int ranks; /* exactly so many; 0: two or more */
    /* Once a launch, after the ranks took their CPUs: memory, connections. May add settings (those
     * of rank 0 and of the last rank are shown). NULL: nothing to prepare. */
    void (*prepare)(struct job *, struct fields *settings);
    /* One replication. What rank 0 puts into result is reported; the usage of rank 0 and of the
     * last rank is added by the caller. */
    void (*measure)(struct job *, const struct attempt *, struct result *);
    void (*release)(struct job *); /* frees what prepare took; NULL: nothing */
};

/* Ends with NULL. */
extern const struct mode *const mpi_modes[];

/* engine.rank: runs the job. */
int run_ranks(const struct launch *launch);

/* engine.failed: rank 0 reports failures as every engine does. The others leave it the word for a
 * while, as it may have found the same, and then write to standard error. */
failure_sink report_rank_failure;

/* The rank that the launcher says this process is, before MPI does; 0 if it says nothing. */
int rank_before_mpi(void);
/* And how many there are; 0: it doesn't say. */
int ranks_before_mpi(void);

/* Called by all ranks. If any of them has a problem (a sentence, not NULL), rank 0 fails with that
 * of the lowest one and the process of every rank ends. */
void must_agree(const struct job *job, enum failure failure, const char *problem);

#endif
