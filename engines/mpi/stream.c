/* Mode stream: rank 0 sends, rank 1 receives. */
#include "flow.h"

#include "../lib/parameters.h"

static struct buffers buffers;
static struct ring ring;

static void prepare(struct job *job, struct fields *settings)
{
    size_t window = window_of(job->launch);
    (void)settings;
    if (is_persistent(job->launch) && window == 0)
        window = 1;
    const struct ring_plan plan = {.peer = 1 - job->rank,
                                   .receive_tag = MPI_ANY_TAG,
                                   .window = window,
                                   .ahead = stream_ahead(job->launch, window),
                                   .announced = true};
    ring_open(&ring, &buffers, job->launch, &plan);
}

static void receive(struct job *job, const struct attempt *attempt)
{
    struct arrivals arrivals = {0};
    MPI_Barrier(MPI_COMM_WORLD);
    usage_begin_process(&job->usage);
    stream_receive(&ring, &arrivals);
    usage_end(&job->usage);
    struct finding own = finding_of(&arrivals);
    own.wrong = buffers_wrong(&buffers, job, attempt, 0, arrivals.messages);
    job->usage.elapsed = own.elapsed;
    finding_send(&own, 0);
}

static void measure(struct job *job, const struct attempt *attempt, struct result *result)
{
    buffers_mark(&buffers, job, attempt);
    if (job->rank == 1) {
        receive(job, attempt);
        return;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    await_receiver(1);
    usage_begin_process(&job->usage);
    double sent = (double)stream_send(&ring, attempt);
    usage_end(&job->usage);
    const struct finding other = finding_take(1);
    finding_check(&other, &buffers, sent, 1);
    result_set_sent(result, &buffers, sent, job->usage.elapsed);
    double rate = finding_rate(result, &other, &buffers);
    result_set(result, "throughput", rate);
    result_set(result, "message_rate", rate / 8 / (double)buffers.size);
}

static void release(struct job *job)
{
    (void)job;
    ring_close(&ring, &buffers);
}

const struct mode mpi_stream = {"stream", 2, prepare, measure, release};
