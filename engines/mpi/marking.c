#include "marking.h"

#include "binding.h"

#include "../lib/mark.h"
#include "../lib/report.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* A warning for each host that has one. Every rank is here before any leaves. */
static void report_mark_problem(const struct job *job, const char *problem)
{
    char message[MESSAGE_LIMIT], host[256] = "";
    for (;;) {
        int own = problem ? job->rank : INT_MAX, lowest;
        MPI_Allreduce(&own, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (lowest == INT_MAX)
            return;
        if (lowest == job->rank) {
            gethostname(host, sizeof host - 1);
            snprintf(message, sizeof message, "on %s: %.700s", host, problem);
            problem = NULL;
        }
        MPI_Bcast(message, sizeof message, MPI_CHAR, lowest, MPI_COMM_WORLD);
        if (job->rank == 0)
            report_warning(MARK_WARNING, lowest == 0 ? "client" : "server", message);
    }
}

void mark_hosts(const struct job *job, const char *label, long replication)
{
    char problem[MESSAGE_LIMIT];
    bool delivered = true;
    if (job->launch->watch == NULL)
        return;
    int ranks_each = job->ranks / hosts_of(job->launch);
    MPI_Barrier(MPI_COMM_WORLD);
    if (job->rank % ranks_each == 0)
        delivered = mark_watchers(job->launch, job->rank / ranks_each, label, replication, problem);
    report_mark_problem(job, delivered ? NULL : problem);
}
