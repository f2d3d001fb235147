/* What happens around a mode: the ranks get ready, measure each replication, and rank 0 reports. */
#include "binding.h"
#include "job.h"
#include "marking.h"
#include "transport.h"

#include "../lib/mark.h"
#include "../lib/parameters.h"
#include "../lib/report.h"
#include "../lib/series.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SIDE_TAG 9001 /* of what the last rank sends rank 0 */

static const struct mode *mode_called(const char *name)
{
    for (const struct mode *const *mode = mpi_modes; *mode; mode++)
        if (list_has((*mode)->names, name))
            return *mode;
    fail(BAD_PARAMETER, "mode %s is not there", name);
}

static void check_ranks(const struct job *job, const struct mode *mode)
{
    char problem[MESSAGE_LIMIT] = "";
    if (mode->ranks && job->ranks != mode->ranks)
        snprintf(problem, sizeof problem,
                 "mode %s measures between %d ranks, and %d were started: start it with 'mpirun -n "
                 "%d'",
                 mode_of(job->launch), mode->ranks, job->ranks, mode->ranks);
    else if (job->ranks < 2)
        snprintf(problem, sizeof problem,
                 "mode %s needs two ranks or more, and there is one: start it with 'mpirun -n 2'",
                 mode_of(job->launch));
    if (*problem)
        must_agree(job, WRONG_COUNT, problem);
}

static void add_own_settings(struct fields *settings)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    fields_add(settings, "host", host);
}

static void add_job_settings(const struct job *job, struct fields *settings)
{
    static const struct {
        int level;
        const char *name;
    } levels[] = {{MPI_THREAD_SINGLE, "single"},
                  {MPI_THREAD_FUNNELED, "funneled"},
                  {MPI_THREAD_SERIALIZED, "serialized"},
                  {MPI_THREAD_MULTIPLE, "multiple"}};
    char library[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length;
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    library[VALUE_LIMIT - 1 < sizeof library ? VALUE_LIMIT - 1 : sizeof library - 1] = '\0';
    fields_add_number(settings, "ranks", job->ranks);
    fields_add(settings, "library", library);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (levels[i].level == job->thread_level)
            fields_add(settings, "thread_level", levels[i].name);
}

/* The last rank's settings, on rank 0. */
static void take_last(const struct job *job, const struct fields *own, struct fields *last)
{
    MPI_Status status;
    int length;
    if (job->rank == job->ranks - 1)
        MPI_Send(own->text, (int)own->length, MPI_CHAR, 0, SIDE_TAG, MPI_COMM_WORLD);
    if (job->rank != 0)
        return;
    MPI_Recv(last->text, FIELDS_LIMIT, MPI_CHAR, job->ranks - 1, SIDE_TAG, MPI_COMM_WORLD,
             &status);
    MPI_Get_count(&status, MPI_CHAR, &length);
    last->length = (size_t)length;
    if (!fields_valid(last))
        fail(BAD_PEER, "the last rank's settings are not what this build writes");
}

/* Rank 0 has both ends' usage in the result. */
static void add_usages(const struct job *job, struct result *result)
{
    double usage[3] = {job->usage.elapsed, job->usage.user, job->usage.system};
    if (job->rank == job->ranks - 1)
        MPI_Send(usage, 3, MPI_DOUBLE, 0, SIDE_TAG, MPI_COMM_WORLD);
    if (job->rank != 0)
        return;
    result_set_usage(result, "client", &job->usage);
    MPI_Recv(usage, 3, MPI_DOUBLE, job->ranks - 1, SIDE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const struct usage last = {.elapsed = usage[0], .user = usage[1], .system = usage[2]};
    result_set_usage(result, "server", &last);
}

static void replicate(struct job *job, const struct mode *mode, const struct attempt *attempt)
{
    struct result result;
    report_current(attempt->number);
    result_clear(&result, job->launch->engine);
    result.warmup = attempt->warmup;
    job->usage = (struct usage){0};
    mark_hosts(job, MARK_BEGIN, attempt->number);
    MPI_Barrier(MPI_COMM_WORLD);
    double started_at = utc_now();
    mode->measure(job, attempt, &result);
    mark_hosts(job, MARK_END, attempt->number);
    if (!some_list_has(job->launch->engine->rows, mode_of(job->launch)))
        add_usages(job, &result);
    if (job->rank == 0)
        report_replication(attempt->number, started_at, &result);
    report_current(-1);
}

static void replicate_all(struct job *job, const struct mode *mode)
{
    const struct launch *launch = job->launch;
    if (number_of(launch, "warmup") > 0) {
        struct attempt warmup = {.warmup = true, .duration = number_of(launch, "warmup")};
        replicate(job, mode, &warmup);
    }
    for (long i = 1; i <= launch->replications; i++) {
        struct attempt attempt = {.number = i,
                                  .duration = number_of(launch, "duration"),
                                  .count = (uint64_t)number_of(launch, "count")};
        replicate(job, mode, &attempt);
    }
    if (job->rank == 0)
        report_done(launch->replications);
}

/* What the launches of a series share. */
struct shared {
    struct job *job;
    const struct fields *settings; /* of the job and this rank */
};

/* One launch, or one of a series. */
static void run_launch(const struct launch *launch, const void *context)
{
    static struct fields own, last;
    const struct shared *shared = context;
    struct job *job = shared->job;
    job->launch = launch;
    const struct mode *mode = mode_called(mode_of(launch));
    check_ranks(job, mode);
    own = *shared->settings;
    if (mode->prepare)
        mode->prepare(job, &own);
    take_last(job, &own, &last);
    if (job->rank == 0) {
        report_settings(&own, &last);
        report_idle_parameters(launch);
    }
    replicate_all(job, mode);
    if (mode->release)
        mode->release(job);
}

int run_ranks(const struct launch *launch)
{
    static struct fields settings;
    struct job job;
    const struct shared shared = {&job, &settings};
    job_begin(&job, launch);
    fields_clear(&settings);
    add_own_settings(&settings);
    must_be_at_addresses(&job);
    take_cpus(&job, &settings);
    if (job.rank == 0)
        add_job_settings(&job, &settings);
    transport_add_settings(&job, &settings);
    const struct series *series = series_of(launch);
    if (series)
        run_series(launch, series, run_launch, &shared);
    else
        run_launch(launch, &shared);
    job_end(&job);
    return 0;
}
