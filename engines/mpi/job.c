/* The job around the modes: MPI's beginning and end, and what happens when a rank fails. */
#include "job.h"

#include "binding.h"
#include "exit_report.h"
#include "transport.h"

#include "../lib/report.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORD_SECONDS 2 /* for rank 0 to report a failure before another rank does */

/* In the environment of whom Open MPI, PMIx, MPICH or Slurm started. */
static int number_before_mpi(const char *const names[], int otherwise)
{
    for (; *names; names++) {
        const char *text = getenv(*names);
        char *end;
        long number = text ? strtol(text, &end, 10) : -1;
        if (number >= 0 && *text && *end == '\0' && number < INT_MAX)
            return (int)number;
    }
    return otherwise;
}

int rank_before_mpi(void)
{
    return number_before_mpi((const char *const[]){"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                                   "SLURM_PROCID", NULL},
                             0);
}

int ranks_before_mpi(void)
{
    return number_before_mpi(
        (const char *const[]){"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL}, 0);
}

static pthread_t main_thread;
static bool running; /* MPI has begun and MPI_Abort may end the job */

void report_rank_failure(enum failure failure, const char *message)
{
    exit_report_disarm();
    if (rank_before_mpi() == 0) {
        report_failure(failure, message);
    } else {
        char host[HOST_NAME_MAX + 1] = "?";
        sleep(WORD_SECONDS);
        gethostname(host, sizeof host - 1);
        fprintf(stderr, "rail-mpi: rank %d on %s: %s (%s)\n", rank_before_mpi(), host, message,
                failure_code(failure));
    }
    if (running && pthread_equal(pthread_self(), main_thread))
        MPI_Abort(MPI_COMM_WORLD, failure == BAD_PARAMETER ? 2 : 1);
}

/* A launcher that has lost a rank, or is stopped itself, ends the others with SIGTERM. */
static void *await_end(void *signals)
{
    int number;
    while (sigwait(signals, &number) != 0)
        ;
    if (exit_report_armed()) /* another rank's MPI_Init failed first */
        _exit(1);
    fail(PEER_LOST, "the launcher ended this job, as it does when a rank fails or it is stopped: "
                    "standard error may say why");
}

static void catch_end(void)
{
    static sigset_t ends;
    pthread_t thread;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    int error = pthread_create(&thread, NULL, await_end, &ends);
    if (error)
        fail(SYSTEM_ERROR, "cannot start a thread: %s", strerror(error));
    pthread_detach(thread);
}

static void mpi_failed(MPI_Comm *comm, int *error, ...)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "an error without a name";
    int length;
    (void)comm;
    MPI_Error_string(*error, text, &length);
    fail(MPI_FAILED, "MPI failed: %.900s", text);
}

void job_begin(struct job *job, const struct launch *launch)
{
    MPI_Errhandler handler;
    *job = (struct job){.launch = launch};
    main_thread = pthread_self();
    catch_end();
    warn_if_misplaced(launch);
    transport_ask(launch);
    transport_listen();
    /* Only this thread calls MPI. Open MPI 4 locks for any level above this one, which costs 60 ns
     * each way through shared memory. */
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &job->thread_level);
    running = true;
    exit_report_disarm();
    MPI_Comm_create_errhandler(mpi_failed, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job->ranks);
}

void job_end(struct job *job)
{
    (void)job;
    running = false;
    MPI_Finalize();
}

void must_agree(const struct job *job, enum failure failure, const char *problem)
{
    struct {
        enum failure failure;
        char message[MESSAGE_LIMIT];
    } verdict = {.failure = failure};
    int own = problem ? job->rank : INT_MAX, lowest;
    MPI_Allreduce(&own, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (lowest == INT_MAX)
        return;
    if (problem)
        snprintf(verdict.message, sizeof verdict.message, "%s", problem);
    MPI_Bcast(&verdict, sizeof verdict, MPI_BYTE, lowest, MPI_COMM_WORLD);
    fail(verdict.failure, "%s", verdict.message);
}
