/* Mode multi_pair: each rank of the first half streams to the one as far into the second half, all
 * at once. The time is rank 0's, from before any of them can begin until all messages are there:
 * the senders' own would say nothing of pairs that did not send at the same time. */
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

/* Returns how many messages this rank sent. */
static double stream(struct job *job, const struct attempt *attempt, struct arrivals *arrivals)
{
    double sent = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    usage_begin_process(&job->usage);
    MPI_Barrier(MPI_COMM_WORLD);
    if (sends(job)) {
        await_receiver(ring.peer);
        sent = (double)stream_send(&ring, attempt);
    } else {
        stream_receive(&ring, arrivals);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    usage_end(&job->usage);
    return sent;
}

/* Ends the job if what a receiver found is not what was sent to it. */
static void check(const struct job *job, const struct attempt *attempt,
                  const struct arrivals *arrivals, double sent)
{
    char problem[MESSAGE_LIMIT] = "";
    enum failure failure = WRONG_DATA;
    if (sends(job)) {
        const struct finding finding = finding_take(ring.peer);
        failure = finding_problem(&finding, &buffers, sent, ring.peer, problem);
    } else {
        struct finding own = finding_of(arrivals);
        own.wrong = buffers_wrong(&buffers, job, attempt, ring.peer, arrivals->messages);
        finding_send(&own, ring.peer);
    }
    must_agree(job, failure, *problem ? problem : NULL);
}

static void measure(struct job *job, const struct attempt *attempt, struct result *result)
{
    struct arrivals arrivals = {0};
    double messages = 0;
    buffers_mark(&buffers, job, attempt);
    double sent = stream(job, attempt, &arrivals);
    check(job, attempt, &arrivals, sent);
    MPI_Reduce(&sent, &messages, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (job->rank != 0)
        return;
    double bytes = messages * (double)buffers.size, seconds = job->usage.elapsed;
    result_set(result, "sent_messages", messages);
    result_set(result, "sent_bytes", bytes);
    result_set(result, "throughput", bytes * 8 / seconds);
    result_set(result, "message_rate", messages / seconds);
}

static void release(struct job *job)
{
    (void)job;
    ring_close(&ring, &buffers);
}

const struct mode mpi_multi_pair = {"multi_pair", 0, prepare, measure, release};
