#include "replication.h"

#include "scratch.h"

#include "../lib/clock.h"
#include "../lib/failure.h"
#include "../lib/report.h"
#include "../lib/team.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FROM_DEVICE 0.9 /* less of what is read past the page cache brings a warning */

/* Of the last replication. */
static struct usage usage;
static double device_bytes; /* read from devices; below 0: the kernel doesn't count */

void operation_failed(const struct worker *worker, uint64_t offset, int error, long transferred)
{
    const struct work *work = worker->work;
    const char *doing = work->write ? "write to" : "read from";
    if (error == EINVAL && work->direct)
        fail(BAD_PARAMETER,
             "block: past the page cache, '%s' takes no blocks of %zu bytes: use a multiple of "
             "4096, or set direct to false",
             work->folder, work->block);
    if (error)
        scratch_failed(error, doing, work->folder);
    fail(SHORT_COUNT, "could not %s a file in '%s': %ld of %zu bytes at offset %llu", doing,
         work->folder, transferred, work->block, (unsigned long long)offset);
}

void begin_pass(struct worker *worker)
{
    uint64_t before = now_ns();
    scratch_forget(worker->fd);
    worker->pass_end += worker->order.blocks;
    worker->paused_ns += now_ns() - before;
}

void settle_files(const struct work *work, struct worker *workers)
{
    bool whole_passes = work->duration <= 0 || !work->direct;
    for (size_t i = 0; i < work->threads; i++) {
        struct worker *worker = &workers[i];
        struct order *order = &worker->order;
        scratch_settle(worker->fd, work->folder);
        histogram_clear(&worker->times);
        worker->operations = worker->sync_ns = worker->paused_ns = 0;
        worker->pass_end = work->direct || work->write ? UINT64_MAX : order->blocks;
        /* Else it goes on, so that no replication finds in a disk's own cache what the one before
         * it began with. */
        if (whole_passes)
            order_begin(order, order->blocks, order->random, order->key);
    }
}

static void run(void *share)
{
    struct worker *worker = share;
    const struct work *work = worker->work;
    worker->begin = now_ns();
    if (worker->ring)
        work_through_ring(worker);
    else
        work_plainly(worker);
    uint64_t written = worker->end = now_ns();
    if (!work->sync_end)
        return;
    if (fdatasync(worker->fd) != 0)
        scratch_failed(errno, "bring to the device", work->folder);
    worker->end = now_ns();
    worker->sync_ns = worker->end - written;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* The bytes that this process had devices read so far; -1 if the kernel keeps no such account. */
static double read_from_devices(void)
{
    char line[128];
    double bytes = -1;
    FILE *account = fopen("/proc/self/io", "re");
    while (account && fgets(line, sizeof line, account))
        if (sscanf(line, "read_bytes: %lf", &bytes) == 1)
            break;
    if (account)
        fclose(account);
    return bytes;
}

/* CPU time is that of the whole process: the kernel's helpers of io_uring are threads of it. */
void measure_disk(const struct work *work, struct worker *workers)
{
    struct task tasks[DISK_THREADS];
    struct rusage before, after;
    for (size_t i = 0; i < work->threads; i++)
        tasks[i] = (struct task){run, &workers[i], (int)i};
    double read_before = read_from_devices();
    getrusage(RUSAGE_SELF, &before);
    usage = team_run(work->launch, false, tasks, work->threads);
    getrusage(RUSAGE_SELF, &after);
    double read_after = read_from_devices();
    device_bytes = read_before >= 0 && read_after >= 0 ? read_after - read_before : -1;
    usage.user = seconds_of(after.ru_utime) - seconds_of(before.ru_utime);
    usage.system = seconds_of(after.ru_stime) - seconds_of(before.ru_stime);
}

static void set_cached_share(const struct work *work, double bytes, struct result *result)
{
    static bool warned;
    if (work->write || device_bytes < 0)
        return;
    double cached = device_bytes < bytes ? 1 - device_bytes / bytes : 0;
    result_set(result, "cached_share", cached);
    if (!work->direct || cached <= 1 - FROM_DEVICE || warned)
        return;
    char text[MESSAGE_LIMIT];
    snprintf(text, sizeof text,
             "'%.256s' takes O_DIRECT, yet %.0f %% of what was read did not come from a device, as "
             "the kernel counts: its file system has a cache of its own, or is memory",
             work->folder, cached * 100);
    report_warning("page-cache", "client", text);
    warned = true;
}

void set_metrics(const struct work *work, const struct worker *workers, struct result *result)
{
    struct histogram *times = calloc(1, sizeof *times);
    if (times == NULL)
        fail(OUT_OF_MEMORY, "no memory for %zu bytes", sizeof *times);
    uint64_t begin = UINT64_MAX, end = 0, sync_ns = 0, paused_ns = UINT64_MAX;
    histogram_clear(times);
    for (size_t i = 0; i < work->threads; i++) {
        const struct worker *worker = &workers[i];
        histogram_merge(times, &worker->times);
        begin = worker->begin < begin ? worker->begin : begin;
        end = worker->end > end ? worker->end : end;
        paused_ns = worker->paused_ns < paused_ns ? worker->paused_ns : paused_ns;
        sync_ns = worker->sync_ns > sync_ns ? worker->sync_ns : sync_ns;
    }
    double operations = (double)times->count, elapsed = ns_seconds(end - begin - paused_ns);
    double bytes = operations * (double)work->block;
    result_set(result, "throughput", bytes / elapsed);
    result_set(result, "iops", operations / elapsed);
    result_set_times(result, "latency", times);
    result_set(result, "cpu_per_io", (usage.user + usage.system) / operations);
    result_set(result, "bytes", bytes);
    result_set(result, "operations", operations);
    result_set_usage(result, "client", &usage);
    if (work->sync_end)
        result_set(result, "fsync_time", ns_seconds(sync_ns));
    set_cached_share(work, bytes, result);
    free(times);
}
