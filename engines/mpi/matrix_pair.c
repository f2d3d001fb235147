#include "matrix_pair.h"

#include "collective_load.h"
#include "flow.h"

#include "../lib/histogram.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_FLIGHT 2      /* messages under way at first, until one has left */
#define LOOK_NS 500000      /* a shorter batch is doubled */
#define MOST_BATCH (1 << 16) /* messages between two looks at the clock */

enum matrix_tag { MEET = GRANT_TAG + 1, ASK, COUNT };

static struct {
    int rank, size, latency_size, window;
    bool verify;
    unsigned char *out;    /* one message: it may leave many times at once */
    unsigned char *in;     /* a room for each message of a window */
    unsigned char *echo;
    MPI_Request *requests;
} endpoint;

static struct histogram trips;

static int int_size(const struct launch *launch, const char *name)
{
    size_t size = size_of(launch, name);
    if (size > INT_MAX / 2)
        fail(BAD_PARAMETER, "%s %zu: a message has at most %d bytes", name, size, INT_MAX / 2);
    return (int)size;
}

static unsigned char *room(int slot)
{
    return endpoint.in + (size_t)slot * (size_t)endpoint.size;
}

void pair_open(const struct job *job)
{
    const struct launch *launch = job->launch;
    endpoint.rank = job->rank;
    endpoint.size = int_size(launch, "size");
    endpoint.latency_size = int_size(launch, "latency_size");
    endpoint.window = int_of(launch, "window");
    endpoint.verify = number_of(launch, "verify") > 0;
    must_fit((size_t)endpoint.window + 2, (size_t)endpoint.size);
    endpoint.out = test_buffer((size_t)endpoint.size);
    endpoint.in = test_buffer((size_t)endpoint.window * (size_t)endpoint.size);
    endpoint.echo = test_buffer((size_t)endpoint.latency_size);
    endpoint.requests =
        (MPI_Request *)test_buffer((size_t)endpoint.window * sizeof *endpoint.requests);
    histogram_open(&trips);
    fill_bytes(endpoint.out, (size_t)endpoint.size, endpoint.rank, 0);
}

void pair_close(void)
{
    free(endpoint.out);
    free(endpoint.in);
    free(endpoint.echo);
    free(endpoint.requests);
}

void pair_meet(int partner)
{
    for (int i = 0; i < 2; i++)
        MPI_Sendrecv(endpoint.out, 1, MPI_BYTE, partner, MEET, endpoint.echo, 1, MPI_BYTE,
                     partner, MEET,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

double pair_ask(int partner, double seconds)
{
    histogram_clear(&trips);
    await_receiver(partner);
    uint64_t now = now_ns(), stop = now + seconds_ns(seconds), took = 0;
    do {
        MPI_Send(endpoint.echo, endpoint.latency_size, MPI_BYTE, partner, ASK, MPI_COMM_WORLD);
        if (took) /* written down while the next one is under way */
            histogram_add(&trips, took);
        MPI_Recv(endpoint.echo, endpoint.latency_size, MPI_BYTE, partner, ASK, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        uint64_t then = now;
        now = now_ns();
        took = now - then;
    } while (now < stop);
    histogram_add(&trips, took);
    MPI_Send(NULL, 0, MPI_BYTE, partner, END_TAG, MPI_COMM_WORLD);
    return histogram_quantile(&trips, 0.5) / 2e9;
}

void pair_answer(int partner)
{
    MPI_Status status;
    MPI_Send(NULL, 0, MPI_BYTE, partner, START_TAG, MPI_COMM_WORLD);
    for (;;) {
        MPI_Recv(endpoint.echo, endpoint.latency_size, MPI_BYTE, partner, MPI_ANY_TAG,
                 MPI_COMM_WORLD,
                 &status);
        if (status.MPI_TAG == END_TAG)
            return;
        MPI_Send(endpoint.echo, endpoint.latency_size, MPI_BYTE, partner, ASK, MPI_COMM_WORLD);
    }
}

/* Messages leave in order. At most `limit` of them are under way, one more for each that has left,
 * so that a slow link isn't handed seconds of work before the first look at the clock. */
struct flight {
    uint64_t sent;
    int under_way, limit;
};

/* The request of the first of those under way. */
static size_t oldest(const struct flight *flight)
{
    return (flight->sent - (uint64_t)flight->under_way) % (uint64_t)endpoint.window;
}

static void send_message(struct flight *flight, int partner)
{
    while (flight->under_way >= flight->limit) {
        MPI_Wait(&endpoint.requests[oldest(flight)], MPI_STATUS_IGNORE);
        flight->under_way--;
        flight->limit += flight->limit < endpoint.window;
    }
    MPI_Isend(endpoint.out, endpoint.size, MPI_BYTE, partner, DATA_TAG, MPI_COMM_WORLD,
              &endpoint.requests[flight->sent % (uint64_t)endpoint.window]);
    flight->sent++;
    flight->under_way++;
}

/* One for each receive that the other end still has open. It follows the data at once, not when
 * that has arrived, so that it comes with the last message. */
static void send_ends(int partner)
{
    for (int i = 0; i < endpoint.window; i++)
        MPI_Send(NULL, 0, MPI_BYTE, partner, END_TAG, MPI_COMM_WORLD);
}

void pair_send(int partner, double seconds)
{
    struct flight flight = {
        .limit = endpoint.window < FIRST_FLIGHT ? endpoint.window : FIRST_FLIGHT};
    await_receiver(partner);
    uint64_t now = now_ns(), stop = now + seconds_ns(seconds), batch = 1;
    MPI_Send(NULL, 0, MPI_BYTE, partner, START_TAG, MPI_COMM_WORLD);
    do {
        for (uint64_t i = 0; i < batch; i++)
            send_message(&flight, partner);
        uint64_t then = now;
        now = now_ns();
        if (now - then < LOOK_NS && flight.limit == endpoint.window && batch < MOST_BATCH)
            batch *= 2;
    } while (now < stop);
    send_ends(partner);
    for (; flight.under_way > 0; flight.under_way--)
        MPI_Wait(&endpoint.requests[oldest(&flight)], MPI_STATUS_IGNORE);
    MPI_Send(&flight.sent, 1, MPI_UINT64_T, partner, COUNT, MPI_COMM_WORLD);
}

static void receive_into(int slot, int partner)
{
    MPI_Irecv(room(slot), endpoint.size, MPI_BYTE, partner, MPI_ANY_TAG, MPI_COMM_WORLD,
              &endpoint.requests[slot]);
}

static void look_at(int partner, uint64_t received, char problem[MESSAGE_LIMIT])
{
    uint64_t sent;
    bool right = true;
    MPI_Recv(&sent, 1, MPI_UINT64_T, partner, COUNT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int slot = 0; endpoint.verify && slot < endpoint.window && (uint64_t)slot < received;
         slot++)
        right = right && bytes_right(room(slot), (size_t)endpoint.size, partner, 0);
    if (received != sent)
        snprintf(problem, MESSAGE_LIMIT, "rank %d received %llu messages from rank %d, not %llu",
                 endpoint.rank, (unsigned long long)received, partner, (unsigned long long)sent);
    else if (!right)
        snprintf(problem, MESSAGE_LIMIT, "rank %d received other bytes than rank %d sent",
                 endpoint.rank, partner);
}

double pair_receive(int partner, char problem[MESSAGE_LIMIT])
{
    MPI_Status status;
    MPI_Request start;
    struct arrivals arrivals = {0};
    int slot = 0;
    MPI_Irecv(NULL, 0, MPI_BYTE, partner, START_TAG, MPI_COMM_WORLD, &start);
    /* Messages come in the order of the receives: an empty one that starts the clock, the data, and
     * the ends. A first message with data would not do: those behind it arrive in part before it. */
    for (int i = 0; i < endpoint.window; i++)
        receive_into(i, partner);
    await_sender(partner, &start, &arrivals);
    for (;;) {
        MPI_Wait(&endpoint.requests[slot], &status);
        if (status.MPI_TAG == END_TAG)
            break;
        arrivals.messages++;
        receive_into(slot, partner);
        slot = slot + 1 < endpoint.window ? slot + 1 : 0;
    }
    uint64_t took = now_ns() - arrivals.began;
    MPI_Waitall(endpoint.window, endpoint.requests, MPI_STATUSES_IGNORE);
    look_at(partner, arrivals.messages, problem);
    return (double)arrivals.messages * 8.0 * endpoint.size / ns_seconds(took);
}
