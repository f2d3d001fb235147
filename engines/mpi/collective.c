/* An operation's time is its slowest rank's. How the ranks start together decides what that says
 * (T. Hoefler and R. Belli, Scientific benchmarking of parallel computing systems, SC 2015), and two
 * things are measured, half of the time each:
 * - time_*: single operations that all ranks begin at a moment agreed on before, by rank 0's clock,
 *   which the others compare theirs with again and again: from that moment until the slowest has
 *   done it. A barrier would not do: ranks leave it apart by as much as a message takes, and a
 *   reduction over a link of 5 ms was "done" in 10 us, the sender always having left it first.
 * - back_to_back: batches of operations that follow one another without a pause, begun and timed
 *   likewise, over their number. Ranks that only send, such as the root of a broadcast, may be
 *   operations ahead: it is what a program's loop of them takes.
 * Not blocking, the first half goes in turns to operations alone, a computation alone, and both at
 * once, all begun and timed alike: what of an operation hides behind the computation. */
#include "collective.h"

#include "collective_singles.h"

#include "../lib/failure.h"
#include "../lib/parameters.h"

#include <stdio.h>

#define MOST_UNLIKE 2           /* times as long, or as short, that a computation may be */

static struct manner manner; /* the launch's */
static struct singles singles;

/* An operation whose every result is looked at. */
static void check(const struct job *job, const char *when)
{
    char problem[MESSAGE_LIMIT];
    if (number_of(job->launch, "verify") == 0)
        return;
    work_spoil(&manner.work);
    perform(&manner, OPERATION, 0);
    bool right = work_right(&manner.work);
    snprintf(problem, sizeof problem,
             "%s the timed part, rank %d got wrong data from %s: the MPI library, its transport or "
             "a host's memory is broken",
             when, job->rank, mode_of(job->launch));
    must_agree(job, WRONG_DATA, right ? NULL : problem);
}

static void prepare(struct job *job, struct fields *settings)
{
    (void)settings;
    const struct launch *launch = job->launch;
    work_open(&manner.work, mode_of(launch), size_of(launch, "size"), job->rank, job->ranks);
    manner.blocking = number_of(launch, "blocking") != 0;
    manner.tests = (uint64_t)number_of(launch, "test_calls");
}

static double median_seconds(enum deed deed)
{
    return histogram_quantile(&singles.times[deed], 0.5) / 1e9;
}

/* As the OSU benchmarks define it, of the medians. Behind a shorter computation an operation cannot
 * hide, and of a much longer one, as where ranks share a CPU, the difference is but noise. */
static void set_overlap(struct result *result)
{
    double operation = median_seconds(OPERATION), computation = median_seconds(COMPUTATION);
    double both = median_seconds(OVERLAPPED), overlap = 1 - (both - computation) / operation;
    result_set(result, "compute_time", computation);
    result_set(result, "overlapped_time", both);
    if (computation >= operation / MOST_UNLIKE && computation <= operation * MOST_UNLIKE)
        result_set(result, "overlap", overlap < 0 ? 0 : overlap > 1 ? 1 : overlap);
}

static void measure(struct job *job, const struct attempt *attempt, struct result *result)
{
    check(job, "before");
    uint64_t steps = fit_computation(job, &manner, &singles);
    usage_begin_process(&job->usage);
    time_singly(job, &manner, attempt, steps, &singles);
    double seconds = time_together(job, &manner, attempt, &singles);
    double error = start_error(job, &singles);
    usage_end(&job->usage);
    check(job, "after");
    if (job->rank != 0)
        return;
    result_set(result, "operations", (double)singles.times[OPERATION].count);
    result_set_times(result, "time", &singles.times[OPERATION]);
    result_set(result, "start_error", error);
    result_set(result, "back_to_back", seconds);
    if (!manner.blocking)
        set_overlap(result);
    if (work_bits(&manner.work) == 0)
        return;
    result_set(result, "algorithm_bandwidth", work_bits(&manner.work) / seconds);
    result_set(result, "bus_bandwidth", work_link_bits(&manner.work) / seconds);
}

static void release(struct job *job)
{
    (void)job;
    work_close(&manner.work);
}

const struct mode mpi_collective = {
    .names = COLLECTIVES,
    .prepare = prepare,
    .measure = measure,
    .release = release,
};
