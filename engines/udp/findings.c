#include "findings.h"

#include "../lib/clock.h"
#include "../lib/failure.h"
#include "../lib/histogram.h"
#include "../lib/parameters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_SHOWN 1000 /* loss runs printed by hand */

static void set_quantiles(struct result *result, const char *p50, const char *p99,
                          const struct histogram *histogram)
{
    result_set(result, p50, histogram_quantile(histogram, 0.5) / 1e9);
    result_set(result, p99, histogram_quantile(histogram, 0.99) / 1e9);
}

static void set_gaps(const struct trace *trace, struct result *result)
{
    static struct histogram gaps;
    histogram_clear(&gaps);
    for (uint64_t i = 1; i < trace->recorded; i++) {
        int64_t gap = (int64_t)(trace->arrivals[i].received - trace->arrivals[i - 1].received);
        histogram_add(&gaps, gap > 0 ? (uint64_t)gap : 0);
    }
    set_quantiles(result, "interarrival_p50", "interarrival_p99", &gaps);
}

/* One-way delays above the smallest: by how much the clocks differ doesn't matter. */
static void set_delays(const struct trace *trace, struct result *result)
{
    static struct histogram delays;
    const struct arrival *a = trace->arrivals;
    int64_t least = INT64_MAX;
    histogram_clear(&delays);
    for (uint64_t i = 0; i < trace->recorded; i++) {
        int64_t transit = (int64_t)(a[i].received - a[0].received - (a[i].sent - a[0].sent));
        least = transit < least ? transit : least;
    }
    for (uint64_t i = 0; i < trace->recorded; i++) {
        int64_t transit = (int64_t)(a[i].received - a[0].received - (a[i].sent - a[0].sent));
        histogram_add(&delays, (uint64_t)(transit - least));
    }
    set_quantiles(result, "relative_delay_p50", "relative_delay_p99", &delays);
}

/* Bandwidth as UDPmon has it. */
static void set_sequence_throughput(const struct launch *launch, const struct trace *trace,
                                    struct result *result)
{
    const struct arrival *first = &trace->arrivals[0];
    const struct arrival *last = &trace->arrivals[trace_before_loss(trace)];
    int64_t took = (int64_t)(last->received - first->received);
    result_set(result, "sequence_last", (double)last->number);
    if (took > 0)
        result_set(result, "sequence_throughput",
                   (double)(last->number - first->number) * number_of(launch, "datagram") * 8 /
                       ns_seconds((uint64_t)took));
}

struct losses {
    FILE *out; /* NULL: nobody reads */
    uint64_t runs, longest;
};

static void count_run(void *context, int64_t after, uint64_t lost)
{
    struct losses *losses = context;
    losses->runs++;
    if (lost > losses->longest)
        losses->longest = lost;
    if (losses->out && losses->runs <= RUNS_SHOWN)
        fprintf(losses->out, "  after %lld lost %llu\n", (long long)after,
                (unsigned long long)lost);
}

static void set_losses(const struct launch *launch, const struct trace *trace,
                       struct result *result)
{
    static char *text; /* the result is shown after this has returned */
    static size_t length;
    struct losses losses = {0};
    free(text);
    text = NULL;
    if (!launch->json)
        losses.out = open_memstream(&text, &length);
    trace_loss_runs(trace, count_run, &losses);
    result_set(result, "loss_runs", (double)losses.runs);
    result_set(result, "longest_loss_run", (double)losses.longest);
    if (losses.out == NULL)
        return;
    if (losses.runs > RUNS_SHOWN)
        fprintf(losses.out, "  and %llu more losses\n",
                (unsigned long long)(losses.runs - RUNS_SHOWN));
    fclose(losses.out);
    result->output = text;
    result->output_length = length;
}

void set_findings(const struct launch *launch, const struct trace *trace, struct result *result)
{
    set_losses(launch, trace, result);
    if (trace->recorded == 0)
        return;
    set_delays(trace, result);
    set_sequence_throughput(launch, trace, result);
    if (trace->recorded < 2)
        return;
    result_set(result, "jitter", trace_jitter(trace));
    set_gaps(trace, result);
}

void write_arrivals(const char *path, long replication, const struct trace *trace)
{
    static bool begun;
    const struct arrival *a = trace->arrivals;
    FILE *out = fopen(path, begun ? "a" : "w");
    if (out == NULL)
        fail(SYSTEM_ERROR, "cannot write '%.200s': %s", path, strerror(errno));
    fprintf(out, "%s# replication %ld: sequence, received s, sent s\n", begun ? "\n\n" : "",
            replication);
    begun = true;
    for (uint64_t i = 0; i < trace->recorded; i++)
        fprintf(out, "%llu %.9f %.9f\n", (unsigned long long)a[i].number,
                (double)(int64_t)(a[i].received - a[0].received) / 1e9,
                (double)(int64_t)(a[i].sent - a[0].sent) / 1e9);
    bool broken = ferror(out) != 0;
    if (fclose(out) != 0 || broken)
        fail(SYSTEM_ERROR, "cannot write '%.200s': %s", path, strerror(errno));
}
