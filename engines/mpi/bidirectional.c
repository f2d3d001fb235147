/* Mode bidirectional: both ranks send and receive at once, message for message: each message that
 * came is followed by the next one that goes. Rank 0 says with one of them that only those follow
 * that rank 1 has in flight when it learns of it, so that both send equally many. */
#include "flow.h"

#include "../lib/parameters.h"

static struct buffers buffers;
static struct ring ring;

/* Only standard sends have a call that receives, too: others go one at a time by calls that do not
 * block. A message of the other side says that its receive of the same number is posted. With twice
 * as many receives posted as messages are in flight, it says so of the receive that the next
 * message from here meets, which may be a ready one then. Only rank 0 sends more than one tag. */
static void prepare(struct job *job, struct fields *settings)
{
    const struct send_kind *kind = send_kind_of(job->launch);
    size_t window = window_of(job->launch);
    (void)settings;
    if (window == 0 && (is_persistent(job->launch) || kind->send != MPI_Send))
        window = 1;
    const struct ring_plan plan = {.peer = 1 - job->rank,
                                   .receive_tag = job->rank == 0 ? DATA_TAG : MPI_ANY_TAG,
                                   .window = window,
                                   .ahead = kind->ready ? 2 * window : window};
    ring_open(&ring, &buffers, job->launch, &plan);
}

/* One end of both streams. */
struct end {
    int other;
    bool leads;
    struct budget budget; /* rank 0's, and how much of its present batch is left */
    uint64_t left;
    uint64_t ahead; /* messages in flight */
    uint64_t last;  /* number of the last message each way, once it is known */
    struct arrivals arrivals;
};

static int next_tag(struct end *end)
{
    if (!end->leads || end->last != UINT64_MAX)
        return DATA_TAG;
    if (end->left == 0)
        end->left = budget_next(&end->budget);
    if (end->left == 0) {
        end->last = end->budget.messages + end->ahead - 1;
        return END_TAG;
    }
    end->left--;
    return DATA_TAG;
}

/* Counts the message that came; true if it was the last one. */
static bool came(struct end *end)
{
    if (!end->leads && is_end(&end->arrivals))
        end->last = end->arrivals.messages + end->ahead - 1;
    bool last = end->arrivals.messages == end->last;
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

static void run_ahead(struct end *end)
{
    for (uint64_t i = 0; i < end->ahead; i++)
        ring_send(&ring, next_tag(end));
    for (;;) {
        ring_wait(&ring, end->arrivals.messages, &end->arrivals.last);
        if (came(end))
            break;
        if (ring.posted <= end->last)
            ring_post(&ring);
        if (ring.sent <= end->last)
            ring_send(&ring, next_tag(end));
    }
    ring_cancel(&ring, end->arrivals.messages);
    ring_finish(&ring, end->arrivals.messages);
}

/* Both ranks: says that this one is ready to receive, and waits until the other one is. */
static void begin(struct end *end)
{
    MPI_Request start;
    ring_begin(&ring);
    MPI_Irecv(NULL, 0, MPI_BYTE, end->other, START_TAG, MPI_COMM_WORLD, &start);
    for (uint64_t i = 0; ring.window && i < end->ahead * (ring.ahead / ring.window); i++)
        ring_post(&ring);
    await_sender(end->other, &start, &end->arrivals);
}

/* What rank 0 may let go until it announces the end. */
static struct budget budget_until_announced(const struct attempt *attempt, uint64_t ahead)
{
    struct attempt part = *attempt;
    if (part.count)
        part.count -= ahead - 1;
    return budget_begin(&part, ahead);
}

static void set_results(struct job *job, const struct finding *forward, const struct finding *back,
                        struct result *result)
{
    double sent = back->messages;
    finding_check(forward, &buffers, sent, 1);
    finding_check(back, &buffers, sent, 0);
    double rate = finding_rate(result, forward, &buffers);
    double reverse_rate = finding_rate(result, back, &buffers);
    result_set_sent(result, &buffers, sent, job->usage.elapsed);
    result_set(result, "throughput", rate);
    result_set(result, "reverse_throughput", reverse_rate);
    result_set(result, "total_throughput", rate + reverse_rate);
    result_set(result, "message_rate", rate / 8 / (double)buffers.size);
}

static void measure(struct job *job, const struct attempt *attempt, struct result *result)
{
    struct end end = {.other = 1 - job->rank,
                      .leads = job->rank == 0,
                      .ahead = ring.window ? ring.window : 1,
                      .last = UINT64_MAX};
    if (attempt->count && attempt->count < end.ahead)
        end.ahead = attempt->count;
    buffers_mark(&buffers, job, attempt);
    MPI_Barrier(MPI_COMM_WORLD);
    usage_begin_process(&job->usage);
    begin(&end);
    end.budget = budget_until_announced(attempt, end.ahead);
    if (ring.window)
        run_ahead(&end);
    else
        run_one_by_one(&end);
    usage_end(&job->usage);
    struct finding own = finding_of(&end.arrivals);
    own.wrong = buffers_wrong(&buffers, job, attempt, end.other, end.arrivals.messages);
    if (job->rank == 1) {
        finding_send(&own, 0);
        return;
    }
    const struct finding other = finding_take(1);
    set_results(job, &other, &own, result);
}

static void release(struct job *job)
{
    (void)job;
    ring_close(&ring, &buffers);
}

const struct mode mpi_bidirectional = {"bidirectional", 2, prepare, measure, release};
