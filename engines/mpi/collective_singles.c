#include "collective_singles.h"

#include "collective_clock.h"
#include "collective_computation.h"

#include "../lib/failure.h"
#include "../lib/pace.h"

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
#define FITTING 10              /* operations by whose median a computation is made as long */
#define LEAST_TOGETHER 10       /* operations in a batch */
#define MOST_TOGETHER (1 << 20) /* likewise */

void perform(const struct manner *manner, enum deed deed, uint64_t steps)
{
    MPI_Request request;
    if (deed == COMPUTATION) {
        compute(steps);
    } else if (manner->blocking) {
        work_once(&manner->work);
    } else {
        work_start(&manner->work, &request);
        if (deed == OVERLAPPED)
            compute_testing(steps, manner->tests, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

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

/* How many come next, after so many that took so long in ns: about as many as make a block. */
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

/* Operations, or batches of so many that follow one another, whose beginnings, by rank 0's clock,
 * are a gap apart. */
struct block {
    uint64_t operations, batch, start, gap, steps;
};

/* One deed's blocks: the next one, and how many operations it should have. */
struct course {
    enum deed deed;
    struct block block;
    uint64_t operations;
};

static struct course course_of(enum deed deed, uint64_t steps)
{
    return (struct course){
        .deed = deed,
        .block = {.batch = 1, .gap = 10 * LEAST_GAP, .steps = steps},
        .operations = FIRST_BLOCK,
    };
}

/* Each operation's or batch's time on this rank. */
static void time_block(const struct course *course, const struct manner *manner,
                       const struct common_clock *clock, uint64_t *own)
{
    const struct block *block = &course->block;
    for (uint64_t i = 0; i < block->operations; i++) {
        uint64_t due = by_own_clock(clock, block->start + i * block->gap);
        bool late = now_ns() > due;
        if (!late)
            wait_until(due);
        for (uint64_t k = 0; k < block->batch; k++)
            perform(manner, course->deed, block->steps);
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

/* Has all ranks begin the block and rank 0 know each time of the slowest. */
static void do_together(const struct job *job, const struct manner *manner, struct course *course,
                        struct common_clock *clock, uint64_t *own, uint64_t *slowest)
{
    struct block *block = &course->block;
    compare_clocks(clock, job);
    block->start = now_ns() + LEAD + 2 * block->gap;
    MPI_Bcast(block, sizeof *block / sizeof(uint64_t), MPI_UINT64_T, 0, MPI_COMM_WORLD);
    time_block(course, manner, clock, own);
    MPI_Reduce(own, slowest, (int)block->operations, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
}

/* False: the phase is over. */
static bool do_block(const struct job *job, const struct manner *manner, struct course *course,
                     struct phase *phase, struct common_clock *clock, struct histogram *times)
{
    static uint64_t own[BLOCK], slowest[BLOCK];
    struct block *block = &course->block;
    block->operations = agree(phase, course->operations);
    if (block->operations == 0)
        return false;
    do_together(job, manner, course, clock, own, slowest);
    if (job->rank == 0)
        phase->done += take_block(block, slowest, times);
    uint64_t took = block->operations * block->gap;
    course->operations = between(1, block_after(block->operations, took), BLOCK);
    return true;
}

uint64_t fit_computation(const struct job *job, const struct manner *manner,
                         struct singles *singles)
{
    struct common_clock clock = {0};
    struct course course = course_of(OPERATION, 0);
    struct phase phase = {.count = FITTING};
    struct histogram *times = &singles->times[OPERATION];
    if (manner->blocking)
        return 0;
    histogram_clear(times);
    while (do_block(job, manner, &course, &phase, &clock, times))
        ;
    return job->rank == 0 ? steps_in(histogram_quantile(times, 0.5)) : 0;
}

/* The deeds take turns, so that what changes meanwhile changes all of them. */
void time_singly(const struct job *job, const struct manner *manner, const struct attempt *attempt,
                 uint64_t steps, struct singles *singles)
{
    struct course courses[DEEDS];
    struct phase phases[DEEDS];
    int deeds = manner->blocking ? OPERATION + 1 : DEEDS;
    bool goes_on = true;
    singles->clock = (struct common_clock){0};
    for (int deed = 0; deed < deeds; deed++) {
        histogram_clear(&singles->times[deed]);
        courses[deed] = course_of((enum deed)deed, steps);
        phases[deed] = phase_begin(attempt);
    }
    while (goes_on) {
        goes_on = false;
        for (int deed = 0; deed < deeds; deed++)
            goes_on |= do_block(job, manner, &courses[deed], &phases[deed], &singles->clock,
                                &singles->times[deed]);
    }
}

/* A block has one batch, which a gap goes before and none follows. */
double time_together(const struct job *job, const struct manner *manner,
                     const struct attempt *attempt, struct singles *singles)
{
    static struct histogram times;
    struct course course = course_of(OPERATION, 0);
    struct block *block = &course.block;
    struct phase phase = phase_begin(attempt);
    uint64_t own, slowest = 0, batch = LEAST_TOGETHER;
    block->operations = 1;
    histogram_clear(&times);
    while ((block->batch = agree(&phase, batch)) > 0) {
        do_together(job, manner, &course, &singles->clock, &own, &slowest);
        if (job->rank != 0)
            continue;
        phase.done += block->batch * take_block(block, &slowest, &times);
        if (own != LATE)
            batch = between(LEAST_TOGETHER, block_after(block->batch, own), MOST_TOGETHER);
    }
    return job->rank == 0 ? ns_seconds(times.sum) / (double)phase.done : 0;
}

double start_error(const struct job *job, struct singles *singles)
{
    uint64_t error = 0;
    set_common_clock(&singles->clock, job); /* how wrong it was in the end */
    MPI_Reduce(&singles->clock.error, &error, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    return ns_seconds(error);
}
