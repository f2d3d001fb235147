/* rail-disk: reads and writes of files, in order and at random. What it does is in disk/. */
#include "disk/disk.h"
#include "disk/prepare.h"
#include "disk/replication.h"

#include "lib/clock.h"
#include "lib/mark.h"
#include "lib/place.h"
#include "lib/report.h"

#include <signal.h>

#define READS "read|random_read"
#define WRITES "write|random_write"

static const struct parameter parameters[] = {
    {"mode", CHOICE, "read", 0, 0, "read|write|random_read|random_write", NULL, NULL,
     "read, write: block after block, from the beginning again after the last; random_read, "
     "random_write: every block once, in no order, before any comes again. What is written takes "
     "the place of data that was there before"},
    {"folder", TEXT, "", 0, 0, NULL, NULL, NULL,
     "where the files are made, a folder that exists; they have no name there and are gone with "
     "the process"},
    {"size", SIZE, "1073741824", 512, 1ull << 50, NULL, NULL, "fio size",
     "of each thread's file, rounded down to whole blocks; it is filled with random data before "
     "anything is measured. Refused if the file system would keep less than 5 % of itself, or "
     "1 GiB, free"},
    {"block", SIZE, "1048576", 512, 1 << 30, NULL, NULL, "fio bs", "bytes of an operation"},
    {"threads", INT, "1", 1, DISK_THREADS, NULL, NULL, "fio numjobs",
     "how many read or write side by side, each a file of its own"},
    {"depth", INT, "1", 1, DISK_DEPTH, NULL, NULL, "fio iodepth",
     "operations under way at once in each thread; more than 1 needs io_uring"},
    {"batch", INT, "1", 1, DISK_DEPTH, NULL, NULL, "fio iodepth_batch",
     "operations handed to the kernel in one call, at most depth. Of several, it may make one of "
     "those that lie side by side"},
    {"direct", BOOL, "true", 0, 0, NULL, NULL, "fio direct",
     "past the page cache (O_DIRECT); false: through it, which a warning then says. Each pass over "
     "a file that is read begins with nothing of it in the cache; the time that this takes is not "
     "counted. The kernel knows the order (posix_fadvise), so it reads ahead only in mode read"},
    {"io", CHOICE, "auto", 0, 0, "auto|psync|io_uring", NULL, "fio ioengine",
     "psync: pread and pwrite; auto: io_uring where the kernel has it for us, else psync"},
    {"fsync", CHOICE, "none", 0, 0, "none|end|each", WRITES, "fio end_fsync, sync=dsync",
     "end: what was written is brought to the device at the end (fdatasync), within the "
     "replication's time; each: every write lasts until its data are there (RWF_DSYNC)"},
    {"duration", TIME, "5", 0, 86400, NULL, NULL, "fio runtime with time_based",
     "length of a replication, 10 ms or more; 0: until every block was touched once"},
    HOST_PLACE_PARAMETERS,
    {0},
};

static const struct metric metrics[] = {
    {"throughput", "B/s", "higher", NULL,
     "bytes read or written over the time from the first operation to the last one's end", "MB/s",
     1e6, 1, .headline = 1, .judged = true},
    {"iops", "op/s", "higher", NULL, "reads or writes over the same time as throughput",
     "IOPS", 1, 0, .headline = 14, .judged = true},
    {"latency_mean", "s", "lower", NULL, "an operation's time, from asking to done", "mean us",
     1e-6, 1},
    {"latency_p50", "s", "lower", NULL, "median of an operation's time, from asking to done",
     "p50 us", 1e-6, 1, .headline = 15, .judged = true},
    {"latency_p90", "s", "lower", NULL, "90th percentile", NULL, 1e-6, 1},
    {"latency_p99", "s", "lower", NULL, "99th percentile of an operation's time", "p99 us",
     1e-6, 1, .headline = 16, .judged = true},
    {"latency_p999", "s", "lower", NULL, "99.9th percentile", NULL, 1e-6, 1},
    {"latency_p9999", "s", "lower", NULL, "99.99th percentile", NULL, 1e-6, 1},
    {"latency_min", "s", "lower", NULL, "shortest", NULL, 1e-6, 1},
    {"latency_max", "s", "lower", NULL, "longest", "max us", 1e-6, 1},
    {"latency_stdev", "s", "neither", NULL, "standard deviation", NULL, 1e-6, 1},
    {"fsync_time", "s", "lower", WRITES,
     "with fsync end: how long the slowest thread waited for it", "fsync ms", 1e-3, 1,
     .headline = 17, .judged = true},
    {"cached_share", "", "neither", READS,
     "share of what was read that no device had to deliver: the page cache had it. What is read "
     "ahead counts as delivered", "cached", 1, 3, .kind = KIND_SHARE},
    {"cpu_per_io", "s", "lower", NULL, "CPU time of the whole process for each operation",
     "CPU us/IO", 1e-6, 2, .kind = KIND_COST},
    {"bytes", "B", "neither", NULL, "read or written", NULL, 1, 0},
    {"operations", "", "neither", NULL, "reads or writes done", NULL, 1, 0, .kind = KIND_COUNT},
    {"client_elapsed", "s", "neither", NULL, "time of the longest thread", NULL, 1, 6},
    {"client_user_time", "s", "neither", NULL, "user CPU time of the process", NULL, 1, 6},
    {"client_system_time", "s", "neither", NULL,
     "system CPU time of the process, io_uring's helpers in the kernel among it", NULL, 1, 6},
    {0},
};

static int client(const struct launch *launch)
{
    static struct fields settings;
    struct work work = {.launch = launch};
    signal(SIGXFSZ, SIG_IGN); /* a file beyond 'ulimit -f' is then an error that can be reported */
    place_thread(launch, false, 0);
    struct worker *workers = prepare_workers(&work, &settings);
    report_settings(&settings, NULL);
    report_idle_parameters(launch);
    lay_out_files(&work, workers);
    for (long i = 1; i <= launch->replications; i++) {
        struct result result;
        result_clear(&result, launch->engine);
        report_current(i);
        settle_files(&work, workers);
        mark_replication(launch, MARK_BEGIN, i);
        double started_at = utc_now();
        measure_disk(&work, workers);
        mark_replication(launch, MARK_END, i);
        set_metrics(&work, workers, &result);
        report_replication(i, started_at, &result);
        report_current(-1);
    }
    release_workers(&work, workers);
    report_done(launch->replications);
    return 0;
}

static const struct engine disk = {
    .name = "disk",
    .summary = "throughput, operations and latency of a disk or file system",
    .parameters = parameters,
    .metrics = metrics,
    .optional = "fsync_time|cached_share",
    .required = (const struct requirement[]){{"read", "folder"},
                                             {"write", "folder"},
                                             {"random_read", "folder"},
                                             {"random_write", "folder"},
                                             {0}},
    .client = client,
};

int main(int argc, char **argv)
{
    return engine_main(&disk, argc, argv);
}
