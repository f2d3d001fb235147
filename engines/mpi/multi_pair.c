/* Mode multi_pair: each rank of the first half streams to the one as far into the second half, all
 * at once. A sender's time ends when its receiver says that the last message is there, and the
 * slowest sender's counts for all. */
#include "flow.h"

#include "../lib/parameters.h"

#include <stdio.h>

static struct buffers buffers;
static struct ring ring;

static bool sends(const struct job *job)
{
    return job->rank < job->ranks / 2;
}

static void prepare(struct job *job, struct fields *settings)
{
    const int half = job->ranks / 2;
    size_t window = size_of(job->launch, "window");
    char problem[MESSAGE_LIMIT];
    snprintf(problem, sizeof problem,
             "mode %s needs an even number of ranks, half of which send to the others, and %d were "
             "started: start one more or one fewer",
             mode_of(job->launch), job->ranks);
    must_agree(job, WRONG_COUNT, job->ranks % 2 ? problem : NULL);
    const struct ring_plan plan = {.peer = sends(job) ? job->rank + half : job->rank - half,
                                   .receive_tag = MPI_ANY_TAG,
                                   .window = window,
                                   .ahead = stream_ahead(job->launch, window),
                                   .announced = true};
    ring_open(&ring, &buffers, job->launch, &plan);
    if (job->rank == 0)
        fields_add_number(settings, "pairs", half);
}

/* Each returns what a sender knows or learns in the end; nothing of a receiver. */
static struct finding stream_to(struct job *job, const struct attempt *attempt, double *sent)
{
    uint64_t began = now_ns();
    *sent = (double)stream_send(&ring, attempt);
    MPI_Recv(NULL, 0, MPI_BYTE, ring.peer, THERE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double elapsed = ns_seconds(now_ns() - began);
    usage_end(&job->usage);
    struct finding finding = finding_take(ring.peer);
    finding.elapsed = elapsed;
    return finding;
}

static void stream_from(struct job *job, const struct attempt *attempt)
{
    struct arrivals arrivals = {0};
    stream_receive(&ring, &arrivals);
    MPI_Send(NULL, 0, MPI_BYTE, ring.peer, THERE_TAG, MPI_COMM_WORLD);
    usage_end(&job->usage);
    struct finding own = finding_of(&arrivals);
    own.wrong = buffers_wrong(&buffers, job, attempt, ring.peer, arrivals.messages);
    finding_send(&own, ring.peer);
}

static void measure(struct job *job, const struct attempt *attempt, struct result *result)
{
    char problem[MESSAGE_LIMIT] = "";
    enum failure failure = WRONG_DATA;
    double sent = 0, messages = 0, elapsed = 0;
    struct finding finding = {0};
    buffers_mark(&buffers, job, attempt);
    MPI_Barrier(MPI_COMM_WORLD);
    usage_begin_process(&job->usage);
    if (sends(job)) {
        finding = stream_to(job, attempt, &sent);
        failure = finding_problem(&finding, &buffers, sent, ring.peer, problem);
    } else {
        stream_from(job, attempt);
    }
    must_agree(job, failure, *problem ? problem : NULL);
    MPI_Reduce(&sent, &messages, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&finding.elapsed, &elapsed, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (job->rank != 0)
        return;
    double bytes = messages * (double)buffers.size;
    result_set(result, "sent_messages", messages);
    result_set(result, "sent_bytes", bytes);
    result_set(result, "throughput", bytes * 8 / elapsed);
    result_set(result, "message_rate", messages / elapsed);
}

static void release(struct job *job)
{
    (void)job;
    ring_close(&ring, &buffers);
}

const struct mode mpi_multi_pair = {"multi_pair", 0, prepare, measure, release};
