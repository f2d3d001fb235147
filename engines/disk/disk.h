/* What rail-disk does in one launch, and what each of its threads has. */
#ifndef RAIL_DISK_H
#define RAIL_DISK_H

#include "order.h"
#include "ring.h"

#include "../lib/engine.h"
#include "../lib/fields.h"
#include "../lib/histogram.h"
#include "../lib/result.h"

#define DISK_THREADS 1024
#define DISK_DEPTH 4096

/* The launch's parameters, read and held against each other. */
struct work {
    const struct launch *launch;
    const char *folder;
    bool write, random, direct, sync_each, sync_end;
    bool ring; /* io_uring rather than pread and pwrite */
    size_t threads, depth, batch;
    uint64_t size; /* of each thread's file: whole blocks */
    size_t block;
    double duration; /* 0: every block once */
};

/* A thread's file and the rest of what it needs; lives from replication to replication. */
struct worker {
    const struct work *work;
    int fd;
    struct ring *ring; /* NULL: pread and pwrite */
    struct order order;
    unsigned char *buffers; /* one for each operation under way, stride bytes apart */
    size_t stride;
    uint64_t data_state; /* of what is written */
    /* Of the replication: */
    uint64_t begin, end, operations, sync_ns;
    /* So many operations have touched the whole file; before more, begin_pass. */
    uint64_t pass_end;
    uint64_t paused_ns; /* of the time from begin to end, this is no part of the measurement */
    struct histogram times;
};

/* Has the page cache forget the file, which else would be what is measured from then on. Nothing
 * may
 * be under way. Only for reads that go through the cache: others never come to pass_end. */
void begin_pass(struct worker *worker);

/* The two ways to measure a replication: until its time is over or every block was touched. */
void work_plainly(struct worker *worker);
void work_through_ring(struct worker *worker);

/* Fails for an operation that moved got bytes instead of a block, or for which the kernel had
 * an errno. */
_Noreturn void operation_failed(const struct worker *worker, uint64_t offset, int error,
                                long transferred);

#endif
