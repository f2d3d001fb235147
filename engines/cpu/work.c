#include "work.h"

#include "../lib/clock.h"
#include "../lib/failure.h"
#include "../lib/parameters.h"
#include "../lib/team.h"
#include "choice.h"
#include "values.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_NS 1000000    /* of operations, then a look at the clock */
#define TRIALS 8            /* batches timed to find how many rounds that is; the fastest counts */
#define SETTLE_NS 20000000  /* of load before them */
#define SLICES 2048         /* of either length and thread in a replication, spread over it */
#define LEAST_SLICES 3      /* of a thread that hardly had its CPU: one of them is undisturbed */
#define SLICE_ROOM 100000   /* ns before the end in which no slice begins: it would last beyond */

/* Of the clock's measurement, 1 or 2 % of a batch. Two lengths, as the change from wide vectors to
 * plain integers may take a core more than a microsecond, which only their
 * difference leaves out. */
enum { SHORT, LONG, LENGTHS };
static const uint64_t slice_cycles[LENGTHS] = {10000, 90000};

struct share {
    const struct work *work;
    uint64_t lead, duration; /* ns */
    _Atomic uint64_t *start; /* common to all; 0: nobody is there yet */
    double batches; /* between start and end; of one across either, the part in between */
    uint64_t *slices[LENGTHS]; /* ns that each took */
    size_t counts[LENGTHS];
    size_t within[LENGTHS]; /* of them those before the end */
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
    uint64_t start = 0, own_start = now_ns() + share->lead;
    if (atomic_compare_exchange_strong(share->start, &start, own_start))
        return own_start;
    return start;
}

/* The part of the time from begin to end that lies between these limits. */
static double part_within(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
    uint64_t first = begin > from ? begin : from, last = end < to ? end : to;
    return last > first ? (double)(last - first) / (double)(end - begin) : 0;
}

/* Straight after a batch, while the clock is what that load lets it be. Returns the time after. */
static uint64_t measure_clock(struct share *share, uint64_t now)
{
    int length = share->counts[LONG] < share->counts[SHORT] ? LONG : SHORT;
    run_cycles(slice_cycles[length]);
    uint64_t then = now_ns();
    share->slices[length][share->counts[length]++] = then - now;
    return then;
}

/* From the common start to the common end, whoever has the CPU in between: else threads that take
 * turns on one would each be timed while they had it, and add up to more than there is. */
static void compute(void *argument)
{
    struct share *share = argument;
    const struct work *work = share->work;
    uint64_t start = common_start(share);
    uint64_t end = start + share->duration, next = start;
    uint64_t interval = share->duration / (LENGTHS * SLICES);
    for (uint64_t now = now_ns(); now < end && !share->wrong;) {
        uint64_t before = now;
        share->wrong = !run_batch(work);
        now = now_ns();
        share->batches += part_within(before, now, start, end);
        if (now >= next && now + SLICE_ROOM < end && share->counts[LONG] < SLICES) {
            next = now + interval;
            now = measure_clock(share, now);
        }
    }
    memcpy(share->within, share->counts, sizeof share->within);
    while (share->counts[LONG] < LEAST_SLICES && !share->wrong) {
        share->wrong = !run_batch(work);
        measure_clock(share, now_ns());
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

static _Noreturn void starved(void)
{
    fail(TOO_SHORT, "others took the CPUs all the time, so that nothing was measured: choose a "
         "longer duration, fewer threads or a quieter host");
}

/* The rate of one thread, in operations a second. Time that somebody else took from it counts,
 * also before its first batch; slices don't, each taken to be as long as they usually are. */
static double judge(struct share *share)
{
    const struct work *work = share->work;
    double usual[LENGTHS] = {usual_slice(share, SHORT), usual_slice(share, LONG)};
    if (usual[LONG] <= usual[SHORT])
        starved();
    share->clock =
        (double)(slice_cycles[LONG] - slice_cycles[SHORT]) * 1e9 / (usual[LONG] - usual[SHORT]);
    double slices = usual[SHORT] * (double)share->within[SHORT] +
                    usual[LONG] * (double)share->within[LONG];
    double operations = round_operations(work->kernel) * (double)work->rounds;
    return operations * share->batches / (((double)share->duration - slices) / 1e9);
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
    if (total <= 0)
        starved();
    double in_a_cycle = total / clocks, capacity = pipeline_capacity(work->kernel);
    result_set(result, "operation_rate", total);
    result_set(result, "operation_rate_per_thread", total / threads);
    result_set(result, "slowest_thread", slowest);
    if (work->threads > 1)
        result_set(result, "slowest_share", slowest * threads / total);
    result_set(result, "clock", clocks / threads);
    result_set(result, "operations_per_cycle", in_a_cycle);
    if (capacity > 0)
        result_set(result, "clock_efficiency", in_a_cycle / capacity);
}

struct usage work_measure(struct work *work, double lead, struct result *result)
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
    return usage;
}
