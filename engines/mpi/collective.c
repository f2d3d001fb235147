/* An operation's time is its slowest rank's. How the ranks start together decides what that says
 * (T. Hoefler and R. Belli, Scientific benchmarking of parallel computing systems, SC 2015), and two
 * things are measured, half of the time each:
 * - time_*: single operations that all ranks begin at a moment agreed on before, by rank 0's clock,
 *   which the others compare theirs with again and again: from that moment until the slowest has
 *   done it. A barrier would not do: ranks leave it apart by as much as a message takes, and a
 *   reduction over a link of 5 ms was "done" in 10 us, the sender always having left it first.
 * - back_to_back: operations that follow one another without a pause, a batch's time over their
 *   number, so that how they start hardly counts. But ranks that only send, such as the root of a
 *   broadcast, may be operations ahead: it is what a program's loop of them takes. */
#include "collective.h"

#include "collective_clock.h"
#include "collective_work.h"

#include "../lib/failure.h"
#include "../lib/histogram.h"
#include "../lib/pace.h"
#include "../lib/parameters.h"

#include <stdio.h>

#define BLOCK 4096              /* single operations until the ranks put their times together */
#define BLOCK_SECONDS 0.01      /* how long a block or a batch should take */
#define FIRST_BLOCK 4
#define LEAST_GAP 100000        /* ns from one single operation's beginning to the next one's */
#define MOST_GAP 10000000000    /* likewise: then something is wrong */
#define LEAD 1000000            /* ns from agreeing on a block to its beginning, and two gaps */
#define FIRST_HOLDS 10000000    /* ns until clocks are compared again, as they drift apart: as long
                                   as since the first time, from this ... */
#define CLOCK_HOLDS 250000000   /* to this; longer if comparing takes more than a tenth of it */
#define LATE UINT64_MAX         /* in place of a time: the operation before had lasted too long */
#define LEAST_TOGETHER 10       /* operations in a batch */
#define MOST_TOGETHER (1 << 20) /* likewise */

static struct work work; /* the launch's */

/* Rank 0 says how many operations come next, no more than it wants; 0: enough. */
static uint64_t agree(const struct phase *phase, uint64_t operations)
{
    uint64_t left = phase->count - phase->done;
    uint64_t next = phase->count && left < operations ? left : operations;
    if (phase->count == 0 && phase->done > 0 && now_ns() >= phase->stop)
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

/* If rank 0 finds that it is time for it. */
static void compare_clocks(struct common_clock *clock, const struct job *job)
{
    uint64_t age = clock->set_at - clock->first.at;
    uint64_t holds = between(10 * clock->took, between(FIRST_HOLDS, age, CLOCK_HOLDS), UINT64_MAX);
    uint64_t due = clock->set_at == 0 || now_ns() - clock->set_at > holds;
    MPI_Bcast(&due, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (due)
        set_common_clock(clock, job);
}

/* Operations whose beginnings, by rank 0's clock, are a gap apart. */
struct block {
    uint64_t operations, start, gap;
};

/* Each operation's time on this rank. */
static void time_block(const struct block *block, const struct common_clock *clock, uint64_t *own)
{
    for (uint64_t i = 0; i < block->operations; i++) {
        uint64_t due = by_own_clock(clock, block->start + i * block->gap);
        bool late = now_ns() > due;
        if (!late)
            wait_until(due);
        work_once(&work);
        own[i] = late ? LATE : now_ns() - due;
    }
}

/* Rank 0 takes over the times of operations that nobody was late for; the gap is made to fit. */
static uint64_t take_block(struct block *block, const uint64_t *slowest, struct histogram *times)
{
    uint64_t good = 0, longest = 0;
    for (uint64_t i = 0; i < block->operations; i++)
        if (slowest[i] != LATE) {
            histogram_add(times, slowest[i]);
            longest = slowest[i] > longest ? slowest[i] : longest;
            good++;
        }
    if (good * 10 < block->operations * 9)
        block->gap *= 2;
    else if (longest < block->gap / 4 && block->gap / 2 >= LEAST_GAP)
        block->gap /= 2;
    if (block->gap > MOST_GAP)
        fail(OVERLOADED, "the ranks cannot begin an operation together every 10 s: too many of "
                         "them share a CPU, or the network stalls");
    return good;
}

/* Returns by how many ns the ranks' beginnings may have been apart, on rank 0. */
static uint64_t time_singly(const struct job *job, struct phase *phase, struct histogram *times)
{
    static uint64_t own[BLOCK], slowest[BLOCK];
    struct block block = {.operations = FIRST_BLOCK, .gap = 10 * LEAST_GAP};
    struct common_clock clock = {0};
    uint64_t worst = 0, operations = FIRST_BLOCK;
    while ((block.operations = agree(phase, operations)) > 0) {
        compare_clocks(&clock, job);
        block.start = now_ns() + LEAD + 2 * block.gap;
        MPI_Bcast(&block, 3, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        time_block(&block, &clock, own);
        MPI_Reduce(own, slowest, (int)block.operations, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
        if (job->rank == 0)
            phase->done += take_block(&block, slowest, times);
        operations = between(1, block_after(block.operations, block.operations * block.gap), BLOCK);
    }
    set_common_clock(&clock, job); /* how wrong it was in the end */
    MPI_Reduce(&clock.error, &worst, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    return worst;
}

/* Returns seconds an operation, on rank 0. */
static double time_together(struct phase *phase)
{
    uint64_t sum = 0, batch = LEAST_TOGETHER;
    while ((batch = agree(phase, batch)) > 0) {
        uint64_t slowest = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        uint64_t at = now_ns();
        for (uint64_t i = 0; i < batch; i++)
            work_once(&work);
        uint64_t took = now_ns() - at;
        MPI_Reduce(&took, &slowest, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
        sum += slowest;
        phase->done += batch;
        batch = between(LEAST_TOGETHER, block_after(batch, took), MOST_TOGETHER);
    }
    return ns_seconds(sum) / (double)phase->done;
}

/* An operation whose every result is looked at. */
static void check(const struct job *job, const char *when)
{
    char problem[MESSAGE_LIMIT];
    if (number_of(job->launch, "verify") == 0)
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
    struct phase singly = phase_begin(attempt);
    uint64_t error = time_singly(job, &singly, &times);
    struct phase together = phase_begin(attempt);
    double seconds = time_together(&together);
    usage_end(&job->usage);
    check(job, "after");
    if (job->rank != 0)
        return;
    result_set(result, "operations", (double)times.count);
    result_set_times(result, "time", &times);
    result_set(result, "start_error", ns_seconds(error));
    result_set(result, "back_to_back", seconds);
    if (work.collective == BARRIER)
        return;
    result_set(result, "algorithm_bandwidth", work_bits(&work) / seconds);
    result_set(result, "bus_bandwidth", work_link_bits(&work) / seconds);
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
