/* A round has four parts: the lower rank of each pair times round trips, then the higher one; the
 * lower one sends a stream, then the higher one. All ranks begin each part together, after a
 * barrier, so that no stream disturbs round trips. Every rank keeps a number for each other one:
 * 16 bytes a rank, and on rank 0 in the end 16 bytes a pair. */
#include "matrix.h"

#include "matrix_pair.h"
#include "matrix_rounds.h"
#include "matrix_table.h"

#include "../lib/memory.h"
#include "../lib/parameters.h"
#include "../lib/report.h"

#include <stdlib.h>
#include <string.h>

#define PARTS 4 /* of a round */

static const struct matrix_table throughput_table = {"throughput, Mbit/s", 1e6, 1, true};
static const struct matrix_table latency_table = {"latency, us", 1e-6, 2, false};

/* Of this rank: from it to each of the others, and from each of them to it. */
static double *latency_to, *throughput_from;
static double *latencies, *throughputs; /* of all ranks, on rank 0 */
static double *spare;                   /* a number for each rank */

static double *numbers(size_t count)
{
    return (double *)test_buffer(count * sizeof(double));
}

static void prepare(struct job *job, struct fields *settings)
{
    size_t ranks = (size_t)job->ranks;
    (void)settings;
    pair_open(job);
    latency_to = numbers(ranks);
    throughput_from = numbers(ranks);
    if (job->rank != 0)
        return;
    must_fit(2 * ranks, ranks * sizeof(double));
    latencies = numbers(ranks * ranks);
    throughputs = numbers(ranks * ranks);
    spare = numbers(ranks);
}

static void do_part(int part, int partner, bool asks, double seconds, char *problem)
{
    if (part < 2 && asks)
        latency_to[partner] = pair_ask(partner, seconds);
    else if (part < 2)
        pair_answer(partner);
    else if (asks)
        pair_send(partner, seconds);
    else
        throughput_from[partner] = pair_receive(partner, problem);
}

static void do_round(const struct job *job, int round, double seconds, char *problem)
{
    int partner = matrix_partner(job->ranks, round, job->rank);
    if (partner != job->rank)
        pair_meet(partner);
    for (int part = 0; part < PARTS; part++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (partner != job->rank)
            do_part(part, partner, (part % 2 == 0) == (job->rank < partner), seconds, problem);
    }
}

/* What came to a rank becomes what its partners sent. */
static void transpose(double *values, size_t ranks)
{
    for (size_t row = 0; row < ranks; row++)
        for (size_t column = 0; column < row; column++) {
            double value = values[row * ranks + column];
            values[row * ranks + column] = values[column * ranks + row];
            values[column * ranks + row] = value;
        }
}

static void report(const struct job *job, long number)
{
    size_t ranks = (size_t)job->ranks;
    for (size_t from = 0; from < ranks; from++) {
        const struct row rows[] = {{"throughput", throughputs + from * ranks},
                                   {"latency", latencies + from * ranks},
                                   {NULL, NULL}};
        report_row(number, (int)from, rows, job->ranks);
    }
    if (job->launch->json)
        return;
    printf("# %s %ld\n", number ? "replication" : "warm-up", number);
    matrix_print(stdout, &throughput_table, throughputs, job->ranks, spare);
    matrix_print(stdout, &latency_table, latencies, job->ranks, spare);
    fflush(stdout);
}

static void measure(struct job *job, const struct attempt *attempt, struct result *result)
{
    char problem[MESSAGE_LIMIT] = "";
    int rounds = matrix_rounds(job->ranks), ranks = job->ranks;
    double seconds = attempt->warmup ? attempt->duration / PARTS / rounds
                                     : number_of(job->launch, "pair_time");
    (void)result;
    latency_to[job->rank] = throughput_from[job->rank] = 0;
    for (int round = 0; round < rounds; round++)
        do_round(job, round, seconds, problem);
    must_agree(job, WRONG_DATA, *problem ? problem : NULL);
    MPI_Gather(latency_to, ranks, MPI_DOUBLE, latencies, ranks, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Gather(throughput_from, ranks, MPI_DOUBLE, throughputs, ranks, MPI_DOUBLE, 0,
               MPI_COMM_WORLD);
    if (job->rank != 0)
        return;
    transpose(throughputs, (size_t)ranks);
    report(job, attempt->number);
}

static void release(struct job *job)
{
    (void)job;
    pair_close();
    free(latency_to);
    free(throughput_from);
    free(latencies);
    free(throughputs);
    free(spare);
}

const struct mode mpi_matrix = {
    .names = "matrix",
    .prepare = prepare,
    .measure = measure,
    .release = release,
};
