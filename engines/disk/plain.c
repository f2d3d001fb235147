/* One operation at a time: pread, and pwrite. */
#include "disk.h"
#include "random_data.h"

#include "../lib/clock.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

static ssize_t move_block(const struct worker *worker, off_t offset)
{
    const struct work *work = worker->work;
    if (!work->write)
        return pread(worker->fd, worker->buffers, work->block, offset);
    if (!work->sync_each)
        return pwrite(worker->fd, worker->buffers, work->block, offset);
    struct iovec block = {.iov_base = worker->buffers, .iov_len = work->block};
    return pwritev2(worker->fd, &block, 1, offset, RWF_DSYNC);
}

void work_plainly(struct worker *worker)
{
    const struct work *work = worker->work;
    uint64_t limit = worker->begin + seconds_ns(work->duration);
    for (;;) {
        if (worker->operations >= worker->pass_end)
            begin_pass(worker);
        uint64_t offset = order_next(&worker->order) * work->block;
        if (work->write)
            refresh_random(worker->buffers, work->block, &worker->data_state);
        uint64_t before = now_ns();
        ssize_t moved = move_block(worker, (off_t)offset);
        uint64_t after = now_ns();
        if (moved != (ssize_t)work->block)
            operation_failed(worker, offset, moved < 0 ? errno : 0, moved);
        histogram_add(&worker->times, after - before);
        worker->operations++;
        if (work->duration > 0 ? after >= limit + worker->paused_ns
                               : worker->operations >= worker->order.blocks)
            return;
    }
}
