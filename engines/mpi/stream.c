/* Mode stream: rank 0 sends, rank 1 receives. The last message has a tag of its own, so that the
 * receiver learns of the end without another word between. */
#include "flow.h"

#include "../lib/parameters.h"

static struct buffers buffers;
static struct ring ring;

static void prepare(struct job *job, struct fields *settings)
{
    size_t window = window_of(job->launch);
    (void)settings;
    buffers_open(&buffers, size_of(job->launch, "size"), window);
    ring_open(&ring, &buffers, window);
}

/* Each returns how many messages it sent. */
static uint64_t send_one_by_one(const struct attempt *attempt)
{
    struct budget budget = budget_begin(attempt, 0);
    uint64_t batch;
    while ((batch = budget_next(&budget)) > 0)
        for (; batch > 0; batch--)
            MPI_Send(buffers.out, (int)buffers.size, MPI_BYTE, 1, DATA_TAG, MPI_COMM_WORLD);
    MPI_Send(buffers.out, (int)buffers.size, MPI_BYTE, 1, END_TAG, MPI_COMM_WORLD);
    return budget.messages + 1;
}

static uint64_t send_ahead(const struct attempt *attempt)
{
    struct budget budget = budget_begin(attempt, ring.window);
    uint64_t batch;
    ring_begin(&ring);
    while ((batch = budget_next(&budget)) > 0)
        for (; batch > 0; batch--)
            ring_send(&ring, 1, DATA_TAG);
    ring_send(&ring, 1, END_TAG);
    ring_fill_up(&ring, 1);
    ring_finish(&ring, 0);
    return budget.messages + 1;
}

static void receive_one_by_one(struct arrivals *arrivals)
{
    MPI_Recv(NULL, 0, MPI_BYTE, 0, START_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    arrivals->began = now_ns();
    do {
        MPI_Recv(receive_buffer(&buffers, arrivals->messages), (int)buffers.size, MPI_BYTE, 0,
                 MPI_ANY_TAG, MPI_COMM_WORLD, &arrivals->last);
        arrived(arrivals, is_end(arrivals));
    } while (!is_end(arrivals));
}

static void receive_ahead(struct arrivals *arrivals)
{
    MPI_Request start;
    ring_begin(&ring);
    MPI_Irecv(NULL, 0, MPI_BYTE, 0, START_TAG, MPI_COMM_WORLD, &start);
    for (size_t i = 0; i < ring.window; i++)
        ring_post(&ring, 0);
    MPI_Wait(&start, MPI_STATUS_IGNORE);
    arrivals->began = now_ns();
    for (;;) {
        ring_wait(&ring, arrivals->messages, &arrivals->last);
        arrived(arrivals, is_end(arrivals));
        if (is_end(arrivals))
            break;
        ring_post(&ring, 0);
    }
    ring_finish(&ring, arrivals->messages);
}

static void receive(struct job *job, const struct attempt *attempt)
{
    struct arrivals arrivals = {0};
    MPI_Barrier(MPI_COMM_WORLD);
    usage_begin(&job->usage);
    if (ring.window)
        receive_ahead(&arrivals);
    else
        receive_one_by_one(&arrivals);
    usage_end(&job->usage);
    struct finding own = finding_of(&arrivals);
    own.wrong = buffers_wrong(&buffers, job, attempt, 0, arrivals.messages);
    job->usage.elapsed = own.elapsed;
    finding_send(&own);
}

static void measure(struct job *job, const struct attempt *attempt, struct result *result)
{
    buffers_mark(&buffers, job, attempt);
    if (job->rank == 1) {
        receive(job, attempt);
        return;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    usage_begin(&job->usage);
    MPI_Send(NULL, 0, MPI_BYTE, 1, START_TAG, MPI_COMM_WORLD);
    double sent = (double)(ring.window ? send_ahead(attempt) : send_one_by_one(attempt));
    usage_end(&job->usage);
    const struct finding other = finding_take();
    finding_check(&other, &buffers, sent, 1);
    result_set_sent(result, &buffers, sent, job->usage.elapsed);
    result_set(result, "throughput", finding_rate(&other, &buffers));
    result_set(result, "message_rate", sent / other.elapsed);
}

static void release(struct job *job)
{
    (void)job;
    ring_close(&ring);
    buffers_close(&buffers);
}

const struct mode mpi_stream = {"stream", 2, prepare, measure, release};
