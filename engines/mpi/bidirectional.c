/* Mode bidirectional: both ranks send and receive at once, message for message: each message that
 * came is followed by the next one that goes. Rank 0 says which is the last; the other direction
 * ends with the message of the same number. */
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

/* One end of both streams. */
struct end {
    int other;
    bool leads;
    struct budget budget; /* rank 0's, and how much of its present batch is left */
    uint64_t left;
    uint64_t last; /* number of the last message, once it has gone; on rank 0 */
    struct arrivals arrivals;
};

static int next_tag(struct end *end)
{
    if (!end->leads)
        return DATA_TAG;
    if (end->last != UINT64_MAX)
        return FILLER_TAG;
    if (end->left == 0)
        end->left = budget_next(&end->budget);
    if (end->left == 0) {
        end->last = end->budget.messages;
        return END_TAG;
    }
    end->left--;
    return DATA_TAG;
}

/* Counts the message that came; true if it was the last one. */
static bool came(struct end *end)
{
    bool last = end->leads ? end->arrivals.messages == end->last : is_end(&end->arrivals);
    arrived(&end->arrivals, last);
    return last;
}

static void run_one_by_one(struct end *end)
{
    do {
        MPI_Sendrecv(buffers.out, (int)buffers.size, MPI_BYTE, end->other, next_tag(end),
                     receive_buffer(&buffers, end->arrivals.messages), (int)buffers.size, MPI_BYTE,
                     end->other, MPI_ANY_TAG, MPI_COMM_WORLD, &end->arrivals.last);
    } while (!came(end));
}

/* When the last message has come, as many have gone after it as are posted to be received. */
static void run_ahead(struct end *end)
{
    ring_begin(&ring);
    for (size_t i = 0; i < ring.window; i++)
        ring_post(&ring, end->other);
    for (size_t i = 0; i < ring.window; i++)
        ring_send(&ring, end->other, next_tag(end));
    for (;;) {
        ring_wait(&ring, end->arrivals.messages, &end->arrivals.last);
        if (came(end))
            break;
        ring_post(&ring, end->other);
        ring_send(&ring, end->other, next_tag(end));
    }
    ring_finish(&ring, end->arrivals.messages);
}

static void set_results(struct job *job, const struct finding *there, const struct finding *back,
                        struct result *result)
{
    double sent = back->messages;
    finding_check(there, &buffers, sent, 1);
    finding_check(back, &buffers, sent, 0);
    double rate = finding_rate(there, &buffers), reverse_rate = finding_rate(back, &buffers);
    result_set_sent(result, &buffers, sent, job->usage.elapsed);
    result_set(result, "throughput", rate);
    result_set(result, "reverse_throughput", reverse_rate);
    result_set(result, "total_throughput", rate + reverse_rate);
    result_set(result, "message_rate", (sent - 1) / there->elapsed);
}

static void measure(struct job *job, const struct attempt *attempt, struct result *result)
{
    struct end end = {.other = 1 - job->rank, .leads = job->rank == 0, .last = UINT64_MAX};
    buffers_mark(&buffers, job, attempt);
    MPI_Barrier(MPI_COMM_WORLD);
    usage_begin(&job->usage);
    end.budget = budget_begin(attempt);
    if (ring.window)
        run_ahead(&end);
    else
        run_one_by_one(&end);
    usage_end(&job->usage);
    struct finding own = finding_of(&end.arrivals);
    own.wrong = buffers_wrong(&buffers, job, attempt, end.other, end.arrivals.messages);
    if (job->rank == 1) {
        finding_send(&own);
        return;
    }
    const struct finding other = finding_take();
    set_results(job, &other, &own, result);
}

static void release(struct job *job)
{
    (void)job;
    ring_close(&ring);
    buffers_close(&buffers);
}

const struct mode mpi_bidirectional = {"bidirectional", 2, prepare, measure, release};
