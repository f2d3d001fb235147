/* rail-cpu: multiplications and additions a second, out of registers. The loops are in cpu/. */
#include "cpu/choice.h"
#include "cpu/work.h"

#include "lib/clock.h"
#include "lib/disturbance.h"
#include "lib/engine.h"
#include "lib/mark.h"
#include "lib/parameters.h"
#include "lib/place.h"
#include "lib/report.h"

#include <math.h>
#include <stdio.h>

#define FIRST_LEAD 0.1  /* s of load before the first replication, for the clock to settle */
#define LATER_LEAD 0.01 /* before the others, which follow at once */

static const struct parameter parameters[] = {
    {"precision", CHOICE, "double", 0, 0, "int8|int16|fp16|bf16|single|double|integer", NULL, NULL,
     "what is computed with: int8: 8-bit and int16: 16-bit integers, fp16: 16-bit, single: 32-bit "
     "and double: 64-bit floating point; bf16: products of bfloat16 added up in 32 bits; integer: "
     "64-bit integers, one at a time. fp16 and bf16 where the CPU has instructions for them",
     .former = "quarter=int8|half=int16"},
    {"vector", CHOICE, "auto", 0, 0, VECTORS, NULL, NULL,
     "the vector unit that computes; auto: the widest that this CPU has; scalar: one element at "
     "a time"},
    {"threads", INT, "1", 1, 1024, NULL, NULL, NULL, "threads that compute side by side"},
    {"duration", TIME, "1", 0.01, 86400, NULL, NULL, NULL, "length of a replication"},
    HOST_PLACE_PARAMETERS,
    {0},
};

static const struct metric metrics[] = {
    {"operation_rate", "op/s", "higher", NULL,
     "operations a second of all threads; each element's multiplication is one, and each "
     "element's addition; int8 only adds",
     "Gop/s", 1e9, 3, .headline = 10, .judged = true},
    {"operation_rate_per_thread", "op/s", "higher", NULL, "of a thread, on average",
     "Gop/s/thread", 1e9, 3},
    {"slowest_thread", "op/s", "higher", NULL, "of the slowest thread", "slowest", 1e9, 3},
    {"slowest_share", "", "higher", NULL,
     "slowest_thread over operation_rate_per_thread, of two threads or more: one slow core of many "
     "hardly moves their sum",
     NULL, 0.01, 1, .kind = KIND_SHARE, .judged = true},
    {"clock", "Hz", "neither", NULL,
     "the CPU's clock under this load, mean over threads: by additions each of which waits for "
     "the one before it, in slices between the batches that are measured",
     "GHz", 1e9, 3, .headline = 12},
    {"operations_per_cycle", "", "higher", NULL,
     "operations of one thread in a cycle of that clock", "op/cycle", 1, 3,
     .kind = KIND_RATIO, .headline = 11, .judged = true},
    {"clock_efficiency", "", "higher", NULL,
     "operations per cycle, of those that the core's pipelines could do; where that is known",
     "efficiency", 1, 4, .kind = KIND_SHARE},
    {"client_elapsed", "s", "neither", NULL, "of the longest thread, with its lead", NULL, 1, 6},
    {"client_user_time", "s", "lower", NULL, "user CPU time of all threads", NULL, 1, 6},
    {"client_system_time", "s", "lower", NULL, "their system CPU time", NULL, 1, 6},
    {0},
};

static const char *operation_of(const struct kernel *kernel)
{
    static const char *const operations[] = {
        [FUSED] = "multiply-add, rounded once: 2 for each element",
        [PAIR] = "multiply, then add: 2 for each element",
        [GROW] = "multiply-add, rounded once: 2 for each element",
        [ADD] = "add: 1 for each element",
        [DOT] = "multiply and add to a 32-bit sum: 2 for each 16-bit element",
    };
    return operations[kernel->form];
}

static void report_launch_settings(const struct launch *launch, const struct kernel *kernel)
{
    static struct fields settings;
    fields_clear(&settings);
    fields_add(&settings, "vector", kernel->vector);
    fields_add_number(&settings, "register_bits", kernel->width * 8);
    fields_add_number(&settings, "chains", kernel->chains);
    fields_add(&settings, "operation", operation_of(kernel));
    add_cpus(launch, false, &settings);
    report_settings(&settings, NULL);
}

static void warn_if_crowded(size_t threads, size_t cpus)
{
    char message[MESSAGE_LIMIT];
    if (threads <= cpus)
        return;
    snprintf(message, sizeof message, "%zu threads take turns on %zu CPU%s", threads, cpus,
             cpus == 1 ? "" : "s");
    report_warning("shared-cpus", "client", message);
}

static int client(const struct launch *launch)
{
    const struct kernel *kernel = choose_kernel(launch);
    place_thread(launch, false, 0);
    report_launch_settings(launch, kernel);
    size_t cpus = place_width(launch);
    double least = 1;
    warn_if_crowded(size_of(launch, "threads"), cpus);
    struct work *work = work_prepare(launch, kernel);
    for (long i = 1; i <= launch->replications; i++) {
        struct result result;
        result_clear(&result, launch->engine);
        report_current(i);
        mark_replication(launch, MARK_BEGIN, i);
        double started_at = utc_now();
        struct usage usage = work_measure(work, i == 1 ? FIRST_LEAD : LATER_LEAD, &result);
        mark_replication(launch, MARK_END, i);
        report_replication(i, started_at, &result);
        least = fmin(least, share_of_cpus(&usage, cpus));
        report_current(-1);
    }
    warn_if_disturbed(least);
    work_free(work);
    report_done(launch->replications);
    return 0;
}

static const struct engine cpu = {
    .name = "cpu",
    .summary = "operations a second of this host's CPUs, by precision, vector unit and threads",
    .parameters = parameters,
    .metrics = metrics,
    .optional = "clock_efficiency|slowest_share",
    .client = client,
};

int main(int argc, char **argv)
{
    return engine_main(&cpu, argc, argv);
}
