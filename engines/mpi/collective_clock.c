#include "collective_clock.h"

#include <math.h>
#include <stdlib.h>

#define EXCHANGES 16
#define CLOCK_TAG 9101
#define MOST_GAIN 500e-6 /* no two computers' clocks differ by more: what does was misread */

static void send_time(int other)
{
    for (int i = 0; i < EXCHANGES; i++) {
        MPI_Recv(NULL, 0, MPI_BYTE, other, CLOCK_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        uint64_t now = now_ns();
        MPI_Send(&now, 1, MPI_UINT64_T, other, CLOCK_TAG, MPI_COMM_WORLD);
    }
}

/* The quickest exchange says most: its middle is off by half of what it took, at most. */
static void ask_time(struct reading *reading)
{
    uint64_t quickest = UINT64_MAX;
    for (int i = 0; i < EXCHANGES; i++) {
        uint64_t remote, began = now_ns();
        MPI_Send(NULL, 0, MPI_BYTE, 0, CLOCK_TAG, MPI_COMM_WORLD);
        MPI_Recv(&remote, 1, MPI_UINT64_T, 0, CLOCK_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        uint64_t took = now_ns() - began;
        if (took >= quickest)
            continue;
        quickest = took;
        reading->at = began + took / 2;
        reading->ahead = remote - reading->at;
        reading->error = took / 2;
    }
}

/* How far rank 0's clock is ahead at a moment of ours. */
static uint64_t ahead_at(const struct common_clock *clock, uint64_t own)
{
    double since = (double)(int64_t)(own - clock->last.at);
    return clock->last.ahead + (uint64_t)(int64_t)(clock->gain * since);
}

uint64_t by_own_clock(const struct common_clock *clock, uint64_t moment)
{
    return moment - ahead_at(clock, moment - clock->last.ahead);
}

static void take_reading(struct common_clock *clock, const struct reading *now)
{
    uint64_t wrong = now->error;
    if (clock->set_at == 0) {
        clock->first = *now;
    } else {
        const struct reading *first = &clock->first;
        wrong += (uint64_t)llabs((int64_t)(now->ahead - ahead_at(clock, now->at)));
        clock->gain = (double)(int64_t)(now->ahead - first->ahead) / (double)(now->at - first->at);
        if (fabs(clock->gain) > MOST_GAIN)
            clock->gain = 0;
    }
    clock->last = *now;
    if (wrong > clock->error)
        clock->error = wrong;
}

void set_common_clock(struct common_clock *clock, const struct job *job)
{
    struct reading reading = {.at = now_ns()};
    uint64_t began = reading.at;
    for (int other = 1; other < job->ranks; other++)
        if (job->rank == 0)
            send_time(other);
        else if (job->rank == other)
            ask_time(&reading);
    take_reading(clock, &reading);
    clock->set_at = now_ns();
    clock->took = clock->set_at - began;
}
