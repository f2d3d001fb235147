#include "work.h"

#include "../lib/clock.h"
#include "../lib/failure.h"
#include "../lib/parameters.h"
#include "../lib/team.h"
#include "choice.h"
#include "values.h"

#include <stdatomic.h>
#include <stdlib.h>

#define BATCH_NS 1000000    /* of operations, then a look at the clock */
#define TRIALS 8            /* batches timed to find how many rounds that is; the fastest counts */
#define SETTLE_NS 20000000  /* of load before them */
#define SLICES 2048         /* of either length and thread in a replication, spread over it */

/* Of the clock's measurement, 1 or 2 % of a batch. Two lengths, as the change from wide vectors to
 * plain integers may take a core more than a microsecond, which only their difference leaves out. */
enum { SHORT, LONG, LENGTHS };
static const uint64_t slice_cycles[LENGTHS] = {10000, 90000};

struct share {
    const struct work *work;
    uint64_t lead, duration; /* ns */
    _Atomic uint64_t *start; /* common to all; 0: nobody is there yet */
    uint64_t batches, took;  /* took: ns from the start to the end of the last batch */
    uint64_t *slices[LENGTHS]; /* ns that each took */
    size_t counts[LENGTHS];
    int last;     /* length of the last slice */
    double clock; /* Hz */
    bool wrong;
};

struct work {
    const struct launch *launch;
    const struct kernel *kernel;
    size_t threads;
    uint64_t rounds; /* in a batch */
    struct registers begin, end;
    uint64_t *slices;
    struct share *shares;
    struct task *tasks;
};

static uint64_t time_rounds(const struct work *work, uint64_t rounds)
{
    struct registers registers = work->begin;
    uint64_t before = now_ns();
    work->kernel->run(&registers, rounds);
    return now_ns() - before;
}

static uint64_t rounds_in_a_batch(const struct work *work)
{
    uint64_t rounds = 1000, fastest = UINT64_MAX;
    for (uint64_t end = now_ns() + SETTLE_NS; now_ns() < end;)
        if (time_rounds(work, rounds) < BATCH_NS / 4)
            rounds *= 2;
    for (int i = 0; i < TRIALS; i++) {
        uint64_t took = time_rounds(work, rounds);
        fastest = took < fastest ? took : fastest;
    }
    return (uint64_t)((double)rounds * BATCH_NS / (double)(fastest ? fastest : 1)) + 1;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        fail(OUT_OF_MEMORY, "no memory for %zu threads", count);
    return memory;
}

struct work *work_prepare(const struct launch *launch, const struct kernel *kernel)
{
    struct work *work = aligned_alloc(_Alignof(struct work), sizeof *work);
    if (work == NULL)
        fail(OUT_OF_MEMORY, "no memory for the registers' values");
    *work = (struct work){.launch = launch, .kernel = kernel};
    work->threads = size_of(launch, "threads");
    work->shares = allocate(work->threads, sizeof *work->shares);
    work->tasks = allocate(work->threads, sizeof *work->tasks);
    work->slices = allocate(work->threads * LENGTHS * SLICES, sizeof *work->slices);
    values_begin(kernel, &work->begin);
    work->rounds = rounds_in_a_batch(work);
    values_end(kernel, work->rounds, &work->end);
    return work;
}

void work_free(struct work *work)
{
    free(work->shares);
    free(work->tasks);
    free(work->slices);
    free(work);
}

static bool run_batch(const struct work *work)
{
    struct registers registers = work->begin;
    work->kernel->run(&registers, work->rounds);
    return values_equal(work->kernel, &registers, &work->end);
}

/* Whoever is first says when all begin. */
static uint64_t common_start(struct share *share)
{
    uint64_t start = 0, mine = now_ns() + share->lead;
    if (atomic_compare_exchange_strong(share->start, &start, mine))
        return mine;
    return start;
}

/* Straight after a batch, while the clock is what that load lets it be. */
static void measure_clock(struct share *share, uint64_t now)
{
    int length = share->counts[LONG] < share->counts[SHORT] ? LONG : SHORT;
    run_cycles(slice_cycles[length]);
    share->slices[length][share->counts[length]++] = now_ns() - now;
    share->last = length;
}

static void compute(void *argument)
{
    struct share *share = argument;
    const struct work *work = share->work;
    uint64_t start = common_start(share);
    uint64_t end = start + share->duration, next = start;
    uint64_t every = share->duration / (LENGTHS * SLICES);
    share->batches = share->counts[SHORT] = share->counts[LONG] = 0;
    share->wrong = false;
    while (now_ns() < start && !share->wrong)
        share->wrong = !run_batch(work);
    for (uint64_t now = 0; (now < end || share->counts[LONG] == 0) && !share->wrong;) {
        share->wrong = !run_batch(work);
        share->batches++;
        now = now_ns();
        share->took = now - start;
        if (now >= next && share->counts[LONG] < SLICES) {
            measure_clock(share, now);
            next = now + every;
        }
    }
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The usual ns of a slice: the mean of those that nobody interrupted, which take about as long as
 * the fastest quarter did. */
static double usual_slice(struct share *share, int length)
{
    double sum = 0;
    size_t count = 0, all = share->counts[length];
    uint64_t *slices = share->slices[length];
    qsort(slices, all, sizeof *slices, by_size);
    uint64_t longest = slices[all / 4] * 5 / 4;
    while (count < all && slices[count] <= longest)
        sum += (double)slices[count++];
    return sum / (double)count;
}

/* The rate of one thread, in operations a second. Time that somebody else took from it counts,
 * also before its first batch; slices don't, each taken to be as long as they usually are. */
static double judge(struct share *share)
{
    const struct work *work = share->work;
    double usual[LENGTHS] = {usual_slice(share, SHORT), usual_slice(share, LONG)};
    double difference = usual[LONG] > usual[SHORT] ? usual[LONG] - usual[SHORT] : 1;
    share->clock = (double)(slice_cycles[LONG] - slice_cycles[SHORT]) * 1e9 / difference;
    /* The last slice came after the time was taken. */
    double slices = usual[SHORT] * (double)share->counts[SHORT] +
                    usual[LONG] * (double)share->counts[LONG] - usual[share->last];
    double operations = round_operations(work->kernel) * (double)work->rounds;
    return operations * (double)share->batches / (((double)share->took - slices) / 1e9);
}

static void report_rates(struct work *work, struct result *result)
{
    double total = 0, clocks = 0, slowest = 0, threads = (double)work->threads;
    for (size_t i = 0; i < work->threads; i++) {
        double rate = judge(&work->shares[i]);
        total += rate;
        clocks += work->shares[i].clock;
        slowest = i == 0 || rate < slowest ? rate : slowest;
    }
    double in_a_cycle = total / clocks, capacity = pipeline_capacity(work->kernel);
    result_set(result, "operation_rate", total);
    result_set(result, "operation_rate_per_thread", total / threads);
    result_set(result, "slowest_thread", slowest);
    result_set(result, "clock", clocks / threads);
    result_set(result, "operations_per_cycle", in_a_cycle);
    if (capacity > 0)
        result_set(result, "clock_efficiency", in_a_cycle / capacity);
}

void work_measure(struct work *work, double lead, struct result *result)
{
    _Atomic uint64_t start = 0;
    for (size_t i = 0; i < work->threads; i++) {
        work->shares[i] = (struct share){
            .work = work,
            .lead = seconds_ns(lead),
            .duration = seconds_ns(number_of(work->launch, "duration")),
            .start = &start,
            .slices = {work->slices + 2 * i * SLICES, work->slices + (2 * i + 1) * SLICES},
        };
        work->tasks[i] =
            (struct task){.work = compute, .share = &work->shares[i], .number = (int)i};
    }
    struct usage usage = team_run(work->launch, false, work->tasks, work->threads);
    for (size_t i = 0; i < work->threads; i++)
        if (work->shares[i].wrong)
            fail(WRONG_RESULT,
                 "thread %zu computed something else than the same operations give elsewhere: "
                 "its CPU or its memory is faulty",
                 i + 1);
    report_rates(work, result);
    result_set_usage(result, "client", &usage);
}
