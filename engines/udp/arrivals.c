#include "arrivals.h"

#include "header.h"

#include "../lib/clock.h"
#include "../lib/failure.h"
#include "../lib/histogram.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"
#include "../lib/report.h"
#include "../lib/tracing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_SHOWN 1000 /* loss runs printed by hand */

/* A session's, which has one launch; and when its replication began. */
static struct trace session_trace;
static struct clock_readings session_began;

void check_trace(const struct launch *launch)
{
    check_trace_asked(launch);
    if (number_of(launch, "trace") == 0 || !udp_mode_of(launch)->traced)
        return;
    if (number_of(launch, "gro") != 0)
        fail(BAD_PARAMETER, "trace: with gro, datagrams that the kernel held together come at one "
                            "time: leave gro off");
    if (header_of(size_of(launch, "datagram")) != FULL)
        fail(BAD_PARAMETER, "trace: datagrams of fewer than %d bytes have no room for the time "
                            "when they were sent", PACKET_HEADER);
}

static enum trace_clock clock_of(const struct launch *launch)
{
    return strcmp(text_of(launch, "timestamp"), "user") == 0 ? MONOTONIC_RAW : REALTIME_BOTH;
}

void prepare_arrivals(struct receiver_group *group)
{
    const struct launch *launch = group->launch;
    group->trace = NULL;
    if (!is_traced(launch, group->trial))
        return;
    check_trace(launch);
    group->trace_room = (uint64_t)number_of(launch, "trace");
    if (session_trace.arrivals == NULL)
        session_trace.arrivals = (struct arrival *)(void *)test_buffer(
            group->trace_room * sizeof *session_trace.arrivals);
    session_trace.recorded = 0;
    session_trace.clock = clock_of(launch);
    group->trace = &session_trace;
    session_began = read_clocks();
}

void offer_arrivals(struct session *session, const struct receiver_group *group,
                    const struct reception *reception, struct fields *reply)
{
    if (group->trace == NULL)
        return;
    if (session_trace.clock == REALTIME_BOTH)
        fields_add_number(reply, "clock_step", wall_clock_step(&session_began));
    session_trace.sent = group->sent[0];
    session_trace.arrived = reception->arrived;
    size_t length = trace_length(&session_trace);
    unsigned char *bytes = malloc(length);
    if (bytes == NULL)
        fail(OUT_OF_MEMORY, "no memory for a trace of %zu bytes", length);
    trace_encode(&session_trace, bytes);
    offer_trace(session, reply, bytes, length);
}

/* The peer's trace has to be of this very replication. */
static void check_peer_trace(const struct launch *launch, const struct trace *trace,
                             uint64_t sent, const struct reception *reception)
{
    uint64_t room = (uint64_t)number_of(launch, "trace");
    if (trace->clock != clock_of(launch) || trace->sent != sent ||
        trace->arrived < reception->arrived ||
        trace->recorded != (trace->arrived < room ? trace->arrived : room))
        fail(BAD_PEER, "the trace does not agree with the result: %llu sent, %llu arrived, %llu "
                       "recorded", (unsigned long long)trace->sent,
             (unsigned long long)trace->arrived, (unsigned long long)trace->recorded);
}

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

static int64_t transit_of(const struct trace *trace, uint64_t i, double skew)
{
    const struct arrival *a = trace->arrivals;
    int64_t sent = (int64_t)(a[i].sent - a[0].sent);
    return (int64_t)(a[i].received - a[0].received) - sent - llround(skew * (double)sent);
}

/* One-way delays above the smallest: by how much the clocks differ doesn't matter, and what they
 * drift is removed as far as it is certain. */
static void set_delays(const struct trace *trace, struct result *result)
{
    double error, skew = trace_skew(trace, &error);
    if (!isnan(skew)) {
        result_set(result, "clock_skew", skew);
        result_set(result, "clock_skew_error", error);
    }
    skew = trace_certain_skew(trace);
    static struct histogram delays;
    int64_t least = INT64_MAX;
    histogram_clear(&delays);
    for (uint64_t i = 0; i < trace->recorded; i++) {
        int64_t transit = transit_of(trace, i, skew);
        least = transit < least ? transit : least;
    }
    for (uint64_t i = 0; i < trace->recorded; i++)
        histogram_add(&delays, (uint64_t)(transit_of(trace, i, skew) - least));
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

/* Sets jitter ... sequence_last; by hand also the loss runs, as the result's output. */
static void set_trace_metrics(const struct launch *launch, const struct trace *trace,
                              struct result *result)
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

static void warn_of_step(const struct fields *reply)
{
    char message[MESSAGE_LIMIT];
    double step = fields_number(reply, "clock_step", -1e12, 1e12);
    if (step == 0)
        return;
    snprintf(message, sizeof message,
             "the clock was moved by %g s during the replication, and the arrival times with it: "
             "--timestamp user uses a clock that nothing moves", step);
    report_warning("clock-stepped", "server", message);
}

void finish_arrivals(struct client *client, const struct trial *trial, const struct fields *reply,
                     const struct reception *reception, struct result *result)
{
    const struct launch *launch = client->launch;
    struct trace trace;
    size_t length;
    const char *problem;
    if (!is_traced(launch, trial))
        return;
    unsigned char *bytes = receive_trace(client, reply, &length);
    if (bytes == NULL)
        fail(BAD_PEER, "the server has no trace, though it was asked for one");
    if (!trace_decode(bytes, length, &trace, &problem))
        fail(BAD_PEER, "the server's trace is none: %s", problem);
    check_peer_trace(launch, &trace, (uint64_t)result_get(result, "sent_packets"), reception);
    if (trace.clock == REALTIME_BOTH)
        warn_of_step(reply);
    show_trace(launch, trial, &trace, bytes, length);
    set_trace_metrics(launch, &trace, result);
    free(trace.arrivals);
    free(bytes);
}
