/* As many operations under way as the queue depth says, through io_uring. */
#include "disk.h"
#include "random_data.h"

#include "../lib/clock.h"
#include "../lib/failure.h"

#include <string.h>

/* The operations under way. Each has a slot, which is its tag and says which buffer is its. */
struct flight {
    struct worker *worker;
    uint64_t limit, added;
    uint32_t idle[DISK_DEPTH]; /* slots of no operation; the first so many: */
    size_t idle_count;
    uint32_t unsubmitted[DISK_DEPTH]; /* slots of operations that aren't handed over yet */
    size_t unsubmitted_count;
    uint64_t began[DISK_DEPTH], offset[DISK_DEPTH];
};

static bool more_to_do(const struct flight *flight, uint64_t now)
{
    const struct worker *worker = flight->worker;
    return worker->work->duration > 0 ? now < flight->limit + worker->paused_ns
                                      : flight->added < worker->order.blocks;
}

/* Whether the next operation has to wait for all that are under way, the last of their pass; once
 * they are done, a new one begins. */
static bool waits_for_pass(struct flight *flight)
{
    struct worker *worker = flight->worker;
    if (flight->added < worker->pass_end)
        return false;
    if (flight->idle_count < worker->work->depth)
        return true;
    begin_pass(worker);
    return false;
}

static void add_operation(struct flight *flight)
{
    struct worker *worker = flight->worker;
    const struct work *work = worker->work;
    uint32_t slot = flight->idle[--flight->idle_count];
    unsigned char *data = worker->buffers + slot * worker->stride;
    uint64_t offset = order_next(&worker->order) * work->block;
    if (work->write)
        refresh_random(data, work->block, &worker->data_state);
    ring_add(worker->ring, &(struct operation){.write = work->write,
                                               .durable = work->sync_each,
                                               .buffer = data,
                                               .length = (uint32_t)work->block,
                                               .offset = offset,
                                               .tag = slot});
    flight->offset[slot] = offset;
    flight->unsubmitted[flight->unsubmitted_count++] = slot;
    flight->added++;
}

static void submit(struct flight *flight, bool wait)
{
    uint64_t now = now_ns();
    while (flight->unsubmitted_count > 0)
        flight->began[flight->unsubmitted[--flight->unsubmitted_count]] = now;
    int error = ring_submit(flight->worker->ring, wait);
    if (error)
        fail(SYSTEM_ERROR, "cannot hand operations to io_uring: %s", strerror(error));
}

/* Takes all that is done; returns when that was. */
static uint64_t take_done(struct flight *flight)
{
    struct worker *worker = flight->worker;
    uint64_t now = now_ns(), slot;
    int moved;
    while (ring_take(worker->ring, &slot, &moved)) {
        if (moved != (int)worker->work->block)
            operation_failed(worker, flight->offset[slot], moved < 0 ? -moved : 0, moved);
        histogram_add(&worker->times, now - flight->began[slot]);
        worker->operations++;
        flight->idle[flight->idle_count++] = (uint32_t)slot;
    }
    return now;
}

void work_through_ring(struct worker *worker)
{
    const struct work *work = worker->work;
    struct flight flight;
    flight.worker = worker;
    flight.limit = worker->begin + seconds_ns(work->duration);
    flight.added = flight.unsubmitted_count = 0;
    flight.idle_count = work->depth;
    for (uint32_t i = 0; i < work->depth; i++)
        flight.idle[i] = (uint32_t)work->depth - 1 - i;
    for (uint64_t now = worker->begin;;) {
        while (flight.idle_count > 0 && more_to_do(&flight, now) && !waits_for_pass(&flight)) {
            if (flight.unsubmitted_count == work->batch)
                submit(&flight, false);
            add_operation(&flight);
        }
        if (flight.idle_count == work->depth)
            return;
        submit(&flight, true);
        now = take_done(&flight);
    }
}
