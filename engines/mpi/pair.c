#include "pair.h"

#include "../lib/memory.h"
#include "../lib/parameters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE 4096
#define BATCH_NS 1000000 /* the time that a batch should take */

struct budget budget_begin(const struct attempt *attempt, uint64_t ahead)
{
    return (struct budget){
        .count = attempt->count,
        .stop = now_ns() + seconds_ns(attempt->duration),
        .batch = 1,
        .ahead = ahead,
    };
}

uint64_t budget_next(struct budget *budget)
{
    uint64_t next;
    if (budget->count) {
        next = budget->count - 1 - budget->messages;
    } else {
        uint64_t now = now_ns(), took = now - budget->batch_began;
        if (budget->messages > budget->ahead && took < BATCH_NS / 2)
            budget->batch *= 2;
        else if (budget->messages > 0 && took > BATCH_NS * 2 && budget->batch > 1)
            budget->batch /= 2;
        budget->batch_began = now;
        next = now < budget->stop ? budget->batch : 0;
    }
    budget->messages += next;
    return next;
}

void buffers_open(struct buffers *buffers, size_t size, size_t window)
{
    if (window == 0)
        window = 1;
    size_t stride = (size + PAGE - 1) / PAGE * PAGE;
    must_fit(window + 1, stride);
    *buffers = (struct buffers){
        .size = size,
        .window = window,
        .stride = stride,
        .out = test_buffer(stride),
        .in = test_buffer(stride * window),
    };
}

void buffers_close(struct buffers *buffers)
{
    free(buffers->out);
    free(buffers->in);
    *buffers = (struct buffers){0};
}

/* The i-th byte that a rank sends in a replication: another one in the next replication, from the
 * other rank, and a page further on. */
static unsigned char byte_at(size_t i, long number, int from)
{
    return (unsigned char)(i * 7 + (i >> 8) * 13 + (i >> 16) * 29 + (size_t)number * 101 +
                           (size_t)from * 57);
}

void buffers_mark(const struct buffers *buffers, const struct job *job,
                  const struct attempt *attempt)
{
    if (number_of(job->launch, "verify") == 0)
        return;
    for (size_t i = 0; i < buffers->size; i++)
        buffers->out[i] = byte_at(i, attempt->number, job->rank);
}

double buffers_wrong(const struct buffers *buffers, const struct job *job,
                     const struct attempt *attempt, int from, uint64_t messages)
{
    uint64_t wrong = 0;
    if (number_of(job->launch, "verify") == 0)
        return 0;
    for (uint64_t m = 0; m < messages && m < buffers->window; m++) {
        const unsigned char *in = receive_buffer(buffers, m);
        for (size_t i = 0; i < buffers->size; i++)
            wrong += in[i] != byte_at(i, attempt->number, from);
    }
    return (double)wrong;
}

void finding_send(const struct finding *finding, int to)
{
    MPI_Send(finding, sizeof *finding / sizeof(double), MPI_DOUBLE, to, FOUND_TAG, MPI_COMM_WORLD);
}

struct finding finding_take(int from)
{
    struct finding finding;
    MPI_Recv(&finding, sizeof finding / sizeof(double), MPI_DOUBLE, from, FOUND_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return finding;
}

enum failure finding_problem(const struct finding *finding, const struct buffers *buffers,
                             double sent, int receiver, char problem[MESSAGE_LIMIT])
{
    *problem = '\0';
    if (finding->messages != sent)
        snprintf(problem, MESSAGE_LIMIT, "rank %d received %.0f messages, and %.0f were sent",
                 receiver, finding->messages, sent);
    else if (finding->last_size != (double)buffers->size)
        snprintf(problem, MESSAGE_LIMIT,
                 "rank %d's last message has %.0f bytes, and %zu were sent", receiver,
                 finding->last_size, buffers->size);
    if (*problem)
        return SHORT_COUNT;
    if (finding->wrong > 0)
        snprintf(problem, MESSAGE_LIMIT,
                 "%.0f bytes that rank %d received are not those that were sent: this MPI library, "
                 "its transport or the host's memory is broken",
                 finding->wrong, receiver);
    return WRONG_DATA;
}

void finding_check(const struct finding *finding, const struct buffers *buffers, double sent,
                   int receiver)
{
    char problem[MESSAGE_LIMIT];
    enum failure failure = finding_problem(finding, buffers, sent, receiver, problem);
    if (*problem)
        fail(failure, "%s", problem);
}

double finding_rate(const struct result *result, const struct finding *finding,
                    const struct buffers *buffers)
{
    bool has_rate = finding->messages >= 2 && finding->elapsed > 0;
    if (!has_rate && !result->warmup)
        fail(TOO_SHORT, "only %.0f messages arrived: too few to measure a rate by; give it more "
                        "time or a higher count",
             finding->messages);
    return has_rate ? finding->messages * (double)buffers->size * 8 / finding->elapsed : NAN;
}
