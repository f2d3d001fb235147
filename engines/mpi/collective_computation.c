#include "collective_computation.h"

#include "../lib/clock.h"

#define TRY_STEPS 20000
#define TRIES 10

static volatile double result = 2;

void compute(uint64_t steps)
{
    double x = result;
    for (uint64_t i = 0; i < steps; i++)
        x = x * 0.999 + 0.001;
    result = x;
}

void compute_testing(uint64_t steps, uint64_t tests, MPI_Request *request)
{
    uint64_t done = 0;
    for (uint64_t test = 1; test <= tests && *request != MPI_REQUEST_NULL; test++) {
        uint64_t until = (uint64_t)((double)steps * (double)test / (double)(tests + 1));
        int complete;
        compute(until - done);
        done = until;
        MPI_Test(request, &complete, MPI_STATUS_IGNORE);
    }
    compute(steps - done);
}

uint64_t steps_in(double nanoseconds)
{
    uint64_t quickest = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t began = now_ns();
        compute(TRY_STEPS);
        uint64_t took = now_ns() - began;
        quickest = took < quickest ? took : quickest;
    }
    double steps = nanoseconds * TRY_STEPS / (double)quickest;
    return steps < 1 ? 1 : (uint64_t)steps;
}
