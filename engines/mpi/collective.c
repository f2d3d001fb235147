/* An operation's time is its slowest rank's, each by its own clock from where it began to where it
 * had done its part. How the ranks start together decides what that says, so two things are
 * measured, half of the time each:
 * - time_*: single operations, a barrier before each. Ranks leave a barrier at different moments,
 *   at most one barrier's time apart, and who leaves first waits within the timed operation for
 *   who leaves last. That is in these times; mode barrier tells how much it can be. Clocks set by
 *   messages would start them no better for long: two hosts' may drift apart as far in a second.
 * - back_to_back: operations that follow one another without a pause, a batch's time over their
 *   number, so that how they start hardly counts. But ranks that only send, such as the root of a
 *   broadcast, may be operations ahead: it is what a program's loop of them takes.
 * The time of one operation that all ranks begin at the same moment lies, as a rule, between the
 * two. The question is that of T. Hoefler and R. Belli, Scientific benchmarking of parallel
 * computing systems, SC 2015. */
#include "collective.h"

#include "collective_work.h"

#include "../lib/failure.h"
#include "../lib/histogram.h"
#include "../lib/parameters.h"

#include <stdio.h>

#define BLOCK 4096              /* single operations until the ranks compare their times */
#define BLOCK_SECONDS 0.01      /* how long a block or a batch should take */
#define LEAST_TOGETHER 10       /* operations in a batch */
#define MOST_TOGETHER (1 << 20) /* likewise */

static struct work work; /* the launch's */

/* Each of a replication's two parts: until that moment or, if count isn't 0, that many operations. */
struct stretch {
    uint64_t stop, count, done;
};

static struct stretch stretch_of(const struct attempt *attempt)
{
    return (struct stretch){
        .stop = now_ns() + seconds_ns(attempt->duration / 2),
        .count = attempt->count,
    };
}

/* Rank 0 says how many operations come next, no more than it wants; 0: enough. */
static uint64_t agree(const struct stretch *stretch, uint64_t wanted)
{
    uint64_t left = stretch->count - stretch->done;
    uint64_t next = stretch->count && left < wanted ? left : wanted;
    if (stretch->count == 0 && stretch->done > 0 && now_ns() >= stretch->stop)
        next = 0;
    MPI_Bcast(&next, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return next;
}

/* How many come next, after so many that took so long: about BLOCK_SECONDS' worth. */
static uint64_t block_after(uint64_t block, uint64_t took)
{
    if (took < seconds_ns(BLOCK_SECONDS / 2))
        return block * 2;
    return took > seconds_ns(BLOCK_SECONDS * 2) ? block / 2 : block;
}

static uint64_t between(uint64_t least, uint64_t number, uint64_t most)
{
    return number < least ? least : number > most ? most : number;
}

static void time_singly(struct stretch *s, struct histogram *times)
{
    static uint64_t own[BLOCK], slowest[BLOCK];
    uint64_t block = 1;
    while ((block = agree(s, block)) > 0) {
        uint64_t began = now_ns();
        for (uint64_t i = 0; i < block; i++) {
            MPI_Barrier(MPI_COMM_WORLD);
            uint64_t at = now_ns();
            work_once(&work);
            own[i] = now_ns() - at;
        }
        uint64_t took = now_ns() - began;
        MPI_Reduce(own, slowest, (int)block, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
        for (uint64_t i = 0; work.rank == 0 && i < block; i++)
            histogram_add(times, slowest[i]);
        s->done += block;
        block = between(1, block_after(block, took), BLOCK);
    }
}

/* Returns seconds an operation, on rank 0. */
static double time_together(struct stretch *s)
{
    uint64_t sum = 0, batch = LEAST_TOGETHER;
    while ((batch = agree(s, batch)) > 0) {
        uint64_t slowest = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        uint64_t at = now_ns();
        for (uint64_t i = 0; i < batch; i++)
            work_once(&work);
        uint64_t took = now_ns() - at;
        MPI_Reduce(&took, &slowest, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
        sum += slowest;
        s->done += batch;
        batch = between(LEAST_TOGETHER, block_after(batch, took), MOST_TOGETHER);
    }
    return ns_seconds(sum) / (double)s->done;
}

/* An operation whose every result is looked at. */
static void check(const struct job *job, const char *when)
{
    char problem[MESSAGE_LIMIT];
    if (!number_of(job->launch, "verify"))
        return;
    work_spoil(&work);
    work_once(&work);
    bool right = work_right(&work);
    snprintf(problem, sizeof problem,
             "%s the timed part, rank %d got wrong data from %s: the MPI library, its transport or "
             "a host's memory is broken",
             when, job->rank, mode_of(job->launch));
    must_agree(job, WRONG_DATA, right ? NULL : problem);
}

static void prepare(struct job *job, struct fields *settings)
{
    (void)settings;
    work_open(&work, mode_of(job->launch), size_of(job->launch, "size"), job->rank, job->ranks);
}

static void measure(struct job *job, const struct attempt *attempt, struct result *result)
{
    static struct histogram times;
    histogram_clear(&times);
    check(job, "before");
    usage_begin(&job->usage);
    struct stretch singly = stretch_of(attempt);
    time_singly(&singly, &times);
    struct stretch together = stretch_of(attempt);
    double each = time_together(&together);
    usage_end(&job->usage);
    check(job, "after");
    if (job->rank != 0)
        return;
    result_set(result, "operations", (double)times.count);
    result_set_times(result, "time", &times);
    result_set(result, "back_to_back", each);
    if (work.collective == BARRIER)
        return;
    result_set(result, "algorithm_bandwidth", work_bits(&work) / each);
    result_set(result, "bus_bandwidth", work_link_bits(&work) / each);
}

static void release(struct job *job)
{
    (void)job;
    work_close(&work);
}

const struct mode mpi_collective = {
    .names = COLLECTIVES,
    .prepare = prepare,
    .measure = measure,
    .release = release,
};
