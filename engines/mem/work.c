#include "work.h"

#include "../lib/failure.h"
#include "../lib/parameters.h"
#include "../lib/place.h"
#include "arena.h"
#include "chase.h"

#include <sched.h>
#include <string.h>

#define WARM_NS 20000000u   /* 20 ms */
#define BATCH_NS 100000u    /* a look at the clock takes under a thousandth of this */
#define FIRST_BATCH 32768u  /* bytes, of all but latency; a power of two, as no kernel likes
                             * remainders */
#define PAGE 4096u
#define APART 128u /* see place_arrays */
#define SEED 20180330u

static enum mode mode_named(const char *name)
{
    static const char *const names[MODES] = {
        [READ] = "read", [WRITE] = "write",           [COPY] = "copy",     [SCALE] = "scale",
        [ADD] = "add",   [TRIAD] = "triad",           [LATENCY] = "latency",
        [RANDOM] = "random", [SEQUENTIAL] = "sequential"};
    int mode = 0;
    while (strcmp(names[mode], name) != 0)
        mode++;
    return (enum mode)mode;
}

static size_t gcd(size_t a, size_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

/* The cache lines that a slot of mode random touches, on average over where it may begin. */
static double lines_of(size_t access)
{
    size_t apart = gcd(access, LINE), lines = 0;
    for (size_t at = 0; at < LINE; at += apart)
        lines += (at + access + LINE - 1) / LINE;
    return (double)lines / (double)(LINE / apart);
}

/* What each mode moves: STREAM's convention counts the words that the loop names. A store without
 * a hint first reads its line into the cache: one more word. */
static void set_bytes(struct job *job)
{
    static const size_t reads[MODES] = {[READ] = 1, [COPY] = 1, [SCALE] = 1, [ADD] = 2,
                                        [TRIAD] = 2, [SEQUENTIAL] = 1, [RANDOM] = 1};
    bool loads = job->mode == READ || job->mode == LATENCY;
    bool updates = job->mode == SEQUENTIAL || job->mode == RANDOM;
    double step = (double)job->step, read = (double)reads[job->mode];
    bool fills = !loads && !updates && !job->nontemporal;
    job->per_unit = step * (read + (loads ? 0 : 1));
    job->traffic = job->per_unit + (fills ? step : 0);
    if (job->mode == RANDOM)
        job->traffic = 2 * LINE * lines_of(job->step);
}

static void check_step(const char *name, size_t step, size_t block)
{
    if (step % WORD != 0)
        fail(BAD_PARAMETER, "%s must be a multiple of 8 bytes; it is %zu", name, step);
    if (step > block)
        fail(BAD_PARAMETER, "%s is %zu bytes, more than the block of %zu", name, step, block);
}

static void set_kernel(struct job *job)
{
    if (job->mode == LATENCY) {
        job->run = chase_follow;
        return;
    }
    job->vector = vector_unit(text_of(job->launch, "vector"));
    bool stores = job->mode >= WRITE && job->mode <= TRIAD;
    job->nontemporal = stores && number_of(job->launch, "nontemporal") != 0;
    job->run =
        job->nontemporal ? job->vector->nontemporal[job->mode] : job->vector->plain[job->mode];
    if (job->run == NULL)
        fail(BAD_PARAMETER, "nontemporal: vector %s has no such stores: leave it out",
             job->vector->name);
}

void job_init(struct job *job, const struct launch *launch)
{
    static const size_t arrays[MODES] = {
        [READ] = 1, [WRITE] = 1, [COPY] = 2, [SCALE] = 2, [ADD] = 3, [TRIAD] = 3,
        [SEQUENTIAL] = 1, [RANDOM] = 1, [LATENCY] = 1};
    memset(job, 0, sizeof *job);
    job->launch = launch;
    job->mode = mode_named(mode_of(launch));
    job->threads = (size_t)int_of(launch, "threads");
    job->cpus = place_width(launch);
    job->block = size_of(launch, "block");
    job->arrays = arrays[job->mode];
    const char *name = job->mode == RANDOM ? "access" : job->mode == LATENCY ? "stride" : NULL;
    job->step = name ? size_of(launch, name) : WORD;
    if (name)
        check_step(name, job->step, job->block);
    job->units = job->block / job->step;
    if (job->mode == LATENCY && job->units < 2)
        fail(BAD_PARAMETER, "a pointer chase needs two slots: choose a block of two strides at "
                            "least");
    if (job->mode == RANDOM && job->units > UINT32_MAX)
        fail(BAD_PARAMETER, "mode random knows 4294967295 places, and %zu bytes have more of %zu: "
             "choose a larger access or a smaller block", job->block, job->step);
    set_kernel(job);
    set_bytes(job);
}

static size_t spaced(size_t block)
{
    return (block + PAGE - 1) / PAGE * PAGE + APART;
}

size_t array_bytes(const struct job *job)
{
    return arena_size(job->launch, job->arrays * spaced(job->block));
}

size_t order_bytes(const struct job *job)
{
    return job->mode == RANDOM ? arena_size(job->launch, job->units * sizeof(uint32_t)) : 0;
}

/* Where a load's address has the lowest 12 bits of a store still under way, many CPUs think that it
 * needs the stored value and wait. So what is read stands a little behind what is written. */
static void place_arrays(struct worker *worker)
{
    const struct job *job = worker->job;
    unsigned char *memory = arena_map(job->launch, array_bytes(job));
    size_t next = job->arrays > 1 ? spaced(job->block) : 0, last = job->arrays > 2 ? next : 0;
    worker->memory = (struct range){memory, array_bytes(job)};
    worker->arrays.to = (double *)(void *)memory;
    worker->arrays.from = (double *)(void *)(memory + next);
    worker->arrays.other = (double *)(void *)(memory + next + last);
}

/* What stands in the arrays that are read: whole numbers, so that sums and products are exact, and
 * not the same everywhere. */
static double from_at(size_t i)
{
    return (double)((i & 4095) + 1);
}

static double other_at(size_t i)
{
    return (double)((i * 5 & 4095) + 2);
}

static void fill(const struct worker *worker)
{
    const struct job *job = worker->job;
    double *from = (double *)worker->arrays.from, *other = (double *)worker->arrays.other;
    bool updates = job->mode == SEQUENTIAL || job->mode == RANDOM;
    for (size_t i = 0; i < job->block / WORD; i++) {
        worker->arrays.to[i] = 0;
        if (!updates && job->mode != WRITE)
            from[i] = from_at(i);
        if (job->arrays > 2)
            other[i] = other_at(i);
    }
}

/* Units that take less than a look at the clock should come apart: large ones one by one. */
static size_t first_batch(const struct job *job)
{
    size_t step = job->mode == LATENCY ? WORD : job->step, units = 1;
    while (units < job->units && 2 * units * step <= FIRST_BATCH)
        units *= 2;
    return units < job->units ? units : job->units;
}

void work_prepare(void *share)
{
    struct worker *worker = share;
    const struct job *job = worker->job;
    uint64_t seed = SEED + (uint64_t)worker->number;
    worker->cpu = sched_getcpu();
    worker->batch = first_batch(job);
    place_arrays(worker);
    if (job->mode == LATENCY) {
        worker->arrays.at =
            chase_link((unsigned char *)worker->arrays.to, job->units, job->step, seed);
        return;
    }
    if (job->mode == RANDOM) {
        uint32_t *order = (uint32_t *)(void *)arena_map(job->launch, order_bytes(job));
        random_order(order, job->units, seed);
        worker->arrays.order = order;
        worker->arrays.slot = job->step / WORD;
        worker->order = (struct range){(unsigned char *)order, order_bytes(job)};
    }
    fill(worker);
}

/* About a batch: whole passes of a small array, a part of a large one. Returns the units. */
static size_t do_batch(struct worker *worker)
{
    const struct job *job = worker->job;
    size_t first = worker->done % job->units, passes = 1, count = worker->batch;
    if (first == 0 && count >= job->units) {
        passes = count / job->units;
        count = job->units;
    } else if (count > job->units - first) {
        count = job->units - first;
    }
    job->run(&worker->arrays, first, count, passes);
    worker->done += count * passes;
    return count * passes;
}

/* One whole pass and a while more, batches growing until each is worth a look at the clock. A batch
 * that was interrupted seems long; there are enough others. */
void work_warm(void *share)
{
    struct worker *worker = share;
    bool whole = worker->job->mode != LATENCY; /* linking has touched it all */
    uint64_t begin = now_ns(), now = begin;
    while (now - begin < WARM_NS || (whole && worker->done < worker->job->units)) {
        size_t units = do_batch(worker);
        uint64_t then = now_ns();
        if (then - now < BATCH_NS && units >= worker->batch / 2)
            worker->batch *= 2;
        now = then;
    }
}

void work_measure(void *share)
{
    struct worker *worker = share;
    struct job *job = worker->job;
    unsigned long long stop = 0;
    worker->counted = 0;
    worker->begin = now_ns();
    uint64_t own_stop = worker->begin + seconds_ns(number_of(job->launch, "duration"));
    if (atomic_compare_exchange_strong(&job->stop, &stop, own_stop))
        stop = own_stop;
    uint64_t now;
    do {
        size_t units = do_batch(worker);
        now = now_ns();
        if (now <= stop || worker->counted == 0) {
            worker->counted += units;
            worker->end = now;
        }
    } while (now < stop);
}

static _Noreturn void wrong(const struct worker *worker, size_t i, double value, double expected)
{
    fail(WRONG_DATA,
         "word %zu of thread %d holds %g instead of %g: this machine's memory or CPU makes "
         "mistakes",
         i, worker->number, value, expected);
}

/* Every word was added to once a pass, and those of the pass under way that were visited already
 * once more, wherever they are. */
static void check_updates(const struct worker *worker)
{
    const struct job *job = worker->job;
    double passes = (double)(worker->done / job->units);
    size_t ahead = 0, expected = worker->done % job->units * (job->step / WORD);
    for (size_t i = 0; i < job->units * (job->step / WORD); i++) {
        double value = worker->arrays.to[i];
        ahead += value != passes;
        if (value != passes && value != passes + STEP)
            wrong(worker, i, value, passes);
    }
    if (ahead != expected)
        fail(WRONG_DATA, "thread %d visited %zu words in its last pass instead of %zu",
             worker->number, ahead, expected);
}

static double expected_at(enum mode mode, size_t i)
{
    switch (mode) {
    case SCALE:
        return FACTOR * from_at(i);
    case ADD:
        return from_at(i) + other_at(i);
    case TRIAD:
        return from_at(i) + FACTOR * other_at(i);
    case WRITE:
        return FACTOR;
    default:
        return from_at(i);
    }
}

static void check_pointer(const struct worker *worker)
{
    size_t at = (size_t)((unsigned char *)worker->arrays.at - worker->memory.begin);
    if (at >= worker->job->block || at % worker->job->step != 0)
        fail(WRONG_DATA, "thread %d followed a pointer to nowhere: this machine's memory or CPU "
             "makes mistakes", worker->number);
}

void work_check(void *share)
{
    const struct worker *worker = share;
    enum mode mode = worker->job->mode;
    if (mode == LATENCY) {
        check_pointer(worker);
        return;
    }
    if (mode == SEQUENTIAL || mode == RANDOM) {
        check_updates(worker);
        return;
    }
    for (size_t i = 0; i < worker->job->block / WORD; i++)
        if (worker->arrays.to[i] != expected_at(mode, i))
            wrong(worker, i, worker->arrays.to[i], expected_at(mode, i));
}
