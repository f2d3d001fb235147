/* The threads' work: each has arrays of its own, which it touches first. */
#ifndef RAIL_MEM_WORK_H
#define RAIL_MEM_WORK_H

#include "kernels.h"
#include "pages.h"

#include "../lib/clock.h"
#include "../lib/engine.h"

#include <stdatomic.h>

#define LINE 64 /* bytes of a cache line */

/* What is asked for, the same for all threads. */
struct job {
    const struct launch *launch;
    enum mode mode;
    const struct vector_unit *vector; /* NULL in mode latency */
    kernel *run;
    bool nontemporal;
    size_t threads;
    size_t cpus;       /* that the threads run on, at most as many */
    size_t block;      /* bytes of one array */
    size_t arrays;     /* of one thread */
    size_t step;       /* bytes of each array that a unit is: a word, an access or a stride */
    size_t units;      /* in an array */
    double per_unit;   /* bytes that the kernel names */
    double traffic;    /* bytes that go between CPU and memory for it if nothing is in a cache */
    atomic_ullong stop; /* when the threads stop; 0: whoever begins first says it */
};

struct worker {
    struct job *job;
    int number;
    int cpu; /* where it runs */
    struct range memory, order;
    struct arrays arrays;
    size_t batch;        /* units between two looks at the clock */
    uint64_t done;       /* units since the arrays were filled */
    uint64_t counted;    /* units of the last measure, at least a batch */
    uint64_t begin, end; /* of the last measure: from its begin to its last batch within the time */
};

/* Reads the parameters; fails with BAD_PARAMETER where they don't fit together. */
void job_init(struct job *job, const struct launch *launch);

/* Bytes of one thread's arrays, and of its random order. */
size_t array_bytes(const struct job *job);
size_t order_bytes(const struct job *job);

/* Tasks of a team; share is a worker. */
void work_prepare(void *worker); /* maps and fills the arrays */
void work_warm(void *worker);    /* a first pass, the CPU's clock up, and how long a batch is */
void work_measure(void *worker); /* until job->stop; a batch that ends after it doesn't count, so
                                  * that nobody is timed while others have finished */
void work_check(void *worker);   /* fails with WRONG_DATA unless the arrays hold what they must */

#endif
