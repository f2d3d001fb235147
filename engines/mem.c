/* rail-mem: how fast this host's memory and caches are, by access pattern, size and threads. */
#include "lib/clock.h"
#include "lib/disturbance.h"
#include "lib/engine.h"
#include "lib/failure.h"
#include "lib/mark.h"
#include "lib/parameters.h"
#include "lib/place.h"
#include "lib/report.h"
#include "lib/team.h"
#include "mem/arena.h"
#include "mem/findings.h"
#include "mem/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STORING "write|copy|scale|add|triad"
#define MOVING "read|" STORING "|sequential|random"
#define UPDATING "sequential|random"

static const struct parameter parameters[] = {
    {"mode", CHOICE, "triad", 0, 0, MOVING "|latency", NULL, "STREAM; pmbw; likwid-bench -t",
     "read, write: loads or stores alone; copy, scale, add, triad: STREAM's four; sequential "
     "(RWS), random (RWR): reads and writes back, word after word, or access after access in "
     "random order; latency: follows pointers through one random cycle"},
    {"block", SIZE, "268435456", 64, 17592186044416.0, NULL, NULL, NULL,
     "bytes of each array of each thread. read, write, sequential, random and latency have one "
     "array, copy and scale two, add and triad three: a run takes arrays times threads times this. "
     "What is left at its end, less than a word, an access or a stride, isn't touched"},
    {"threads", INT, "1", 1, 1024, NULL, NULL, NULL, "threads, each with arrays of its own"},
    {"duration", TIME, "1", 0.01, 3600, NULL, NULL, NULL, "length of one replication"},
    {"access", SIZE, "64", 8, 17592186044416.0, NULL, "random", NULL,
     "bytes that are read and written back at each random place"},
    {"stride", SIZE, "64", 8, 1073741824, NULL, "latency", NULL,
     "bytes from one slot of the cycle to its neighbour: 64, a line, makes each load fetch a line "
     "of its own; pmbw's PermRead has 8"},
    {"nontemporal", BOOL, "0", 0, 0, NULL, STORING, NULL,
     "stores that go past the caches, so that no line is read before it is overwritten"},
    {"vector", CHOICE, "auto", 0, 0, "auto|scalar|sse2|avx2|avx512|neon", MOVING, NULL,
     "the unit that loads and stores; auto: the widest there is"},
    {"huge_pages", CHOICE, "none", 0, 0, "none|transparent|2MiB|1GiB", NULL, NULL,
     "none: base pages, whatever the system's default is; transparent: the kernel's own huge "
     "pages; 2MiB, 1GiB: out of those that were reserved"},
    {"numa_node", INT, "-1", -1, 1023, NULL, NULL, NULL,
     "the NUMA node that the memory has to be on; -1: that of the thread, which touches it first"},
    HOST_PLACE_PARAMETERS,
    {0},
};

static const struct metric metrics[] = {
    {"throughput", "B/s", "higher", MOVING,
     "bytes that the loop names, as STREAM counts: read and write 8 a word, copy and scale 16, add "
     "and triad 24; sequential and random 16, 8 read and 8 written",
     "GB/s", 1e9, 3, .headline = 1, .judged = true},
    {"traffic", "B/s", "higher", MOVING,
     "likewise, and the lines that plain stores read before they overwrite them; random: whole "
     "lines in and out. In memory, not in cache, this is what the memory's lines carry",
     "traffic GB/s", 1e9, 3},
    {"slowest_thread", "B/s", "higher", MOVING, "throughput of the slowest thread", "slowest GB/s",
     1e9, 3},
    {"accesses", "op/s", "higher", UPDATING,
     "reads with write-backs a second, of a word each in mode sequential, of `access` bytes each "
     "in mode random",
     "M/s", 1e6, 3, .headline = 13, .judged = true},
    {"access_time", "s", "lower", UPDATING,
     "a thread's mean time for one of those; many are under way at once, so that it is no latency",
     "ns each", 1e-9, 3},
    {"latency", "s", "lower", "latency", "a thread's mean time for one load that waits for the one "
     "before", "ns", 1e-9, 3, .headline = 6, .judged = true},
    {"client_elapsed", "s", "neither", NULL, "length of the measured part", "client s", 1, 3},
    {"client_user_time", "s", "lower", NULL, "user CPU time of its threads", "c-user s", 1, 3},
    {"client_system_time", "s", "lower", NULL, "system CPU time of its threads", "c-sys s", 1, 3},
    {0},
};

static double seconds_of(const struct worker *worker)
{
    return ns_seconds(worker->end - worker->begin);
}

/* All threads' bytes over the time from the first one's start to the last one's end; the slowest's
 * too, as of threads that take turns on a CPU each would be timed while it has it. */
static void set_throughput(struct result *result, const struct job *job,
                           const struct worker *workers, double units, double seconds)
{
    double slowest = 0;
    for (size_t i = 0; i < job->threads; i++) {
        double rate = (double)workers[i].counted * job->per_unit / seconds;
        slowest = i == 0 || rate < slowest ? rate : slowest;
    }
    result_set(result, "throughput", units * job->per_unit / seconds);
    result_set(result, "traffic", units * job->traffic / seconds);
    result_set(result, "slowest_thread", slowest);
}

static void set_metrics(struct result *result, const struct job *job, const struct worker *workers,
                        const struct usage *usage)
{
    uint64_t begin = workers[0].begin, end = workers[0].end;
    double units = 0, busy = 0;
    for (size_t i = 0; i < job->threads; i++) {
        begin = workers[i].begin < begin ? workers[i].begin : begin;
        end = workers[i].end > end ? workers[i].end : end;
        units += (double)workers[i].counted;
        busy += seconds_of(&workers[i]);
    }
    double seconds = ns_seconds(end - begin);
    if (job->mode == LATENCY)
        result_set(result, "latency", busy / units);
    else
        set_throughput(result, job, workers, units, seconds);
    if (job->mode == SEQUENTIAL || job->mode == RANDOM) {
        result_set(result, "accesses", units / seconds);
        result_set(result, "access_time", busy / units);
    }
    result_set_usage(result, "client", usage);
}

/* The same work in each thread. */
static struct usage together(struct job *job, struct worker *workers, void (*work)(void *worker))
{
    struct task *tasks = calloc(job->threads, sizeof *tasks);
    if (tasks == NULL)
        fail(OUT_OF_MEMORY, "no memory for %zu threads", job->threads);
    for (size_t i = 0; i < job->threads; i++)
        tasks[i] = (struct task){.work = work, .share = &workers[i], .number = (int)i};
    struct usage usage = team_run(job->launch, false, tasks, job->threads);
    free(tasks);
    return usage;
}

static double measure(struct job *job, struct worker *workers, long number)
{
    struct result result;
    result_clear(&result, job->launch->engine);
    report_current(number);
    together(job, workers, work_warm);
    mark_replication(job->launch, MARK_BEGIN, number);
    double started_at = utc_now();
    atomic_store(&job->stop, 0);
    struct usage usage = together(job, workers, work_measure);
    mark_replication(job->launch, MARK_END, number);
    together(job, workers, work_check);
    set_metrics(&result, job, workers, &usage);
    report_replication(number, started_at, &result);
    report_current(-1);
    return share_of_cpus(&usage, job->cpus);
}

static int client(const struct launch *launch)
{
    static struct fields settings;
    static struct job job;
    report_idle_parameters(launch);
    job_init(&job, launch);
    struct worker *workers = calloc(job.threads, sizeof *workers);
    if (workers == NULL)
        fail(OUT_OF_MEMORY, "no memory for %zu threads", job.threads);
    for (size_t i = 0; i < job.threads; i++)
        workers[i] = (struct worker){.job = &job, .number = (int)i};
    arena_check(launch, (double)job.threads * (double)(array_bytes(&job) + order_bytes(&job)));
    if (job.threads == 1)
        place_thread(launch, false, 0);
    else
        place_above(launch);
    together(&job, workers, work_prepare);
    add_findings(&job, workers, &settings);
    report_settings(&settings, NULL);
    double least = 1;
    for (long i = 1; i <= launch->replications; i++)
        least = fmin(least, measure(&job, workers, i));
    warn_if_disturbed(least);
    free(workers);
    report_done(launch->replications);
    return 0;
}

static const struct engine mem = {
    .name = "mem",
    .summary = "bandwidth and latency of this host's memory and caches",
    .parameters = parameters,
    .metrics = metrics,
    .client = client,
};

int main(int argc, char **argv)
{
    return engine_main(&mem, argc, argv);
}
