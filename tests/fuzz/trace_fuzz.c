/* The decoders of traces and of intervals: any bytes. What they take must be of use to the rest of the
 * library, and must read the same again after it was written. */
#include "attempt.h"
#include "intervals_format.h"
#include "trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct losses {
    uint64_t next; /* the first number that the next run may begin with */
    uint64_t total;
};

static void add_loss(void *context, int64_t after, uint64_t lost)
{
    struct losses *losses = context;
    must((uint64_t)(after + 1) >= losses->next && lost > 0);
    losses->next = (uint64_t)(after + 1) + lost + 1; /* a run is as long as it can be */
    losses->total += lost;
}

static int by_number(const void *a, const void *b)
{
    uint64_t left = ((const struct arrival *)a)->number, right = ((const struct arrival *)b)->number;
    return (left > right) - (left < right);
}

/* Every number up to the last one known of either arrived or was lost. */
static void check_losses(const struct trace *trace)
{
    struct losses losses = {0};
    uint64_t unique = 0, bound = 0;
    trace_loss_runs(trace, add_loss, &losses);
    qsort(trace->arrivals, trace->recorded, sizeof *trace->arrivals, by_number);
    for (uint64_t i = 0; i < trace->recorded; i++) {
        unique += i == 0 || trace->arrivals[i].number != trace->arrivals[i - 1].number;
        bound = trace->arrivals[i].number + 1;
    }
    if (trace->recorded == trace->arrived)
        bound = trace->sent;
    must(unique + losses.total == bound);
}

static void check_round_trip(const struct trace *trace, size_t size)
{
    struct trace again;
    const char *problem;
    size_t length = trace_length(trace);
    unsigned char *bytes = malloc(length);
    must(bytes && length <= size); /* a number may come longer than needed, none leaves so */
    trace_encode(trace, bytes);
    must(trace_decode(bytes, length, &again, &problem));
    must(again.clock == trace->clock && again.sent == trace->sent &&
         again.arrived == trace->arrived && again.recorded == trace->recorded);
    must(memcmp(again.arrivals, trace->arrivals, trace->recorded * sizeof *trace->arrivals) == 0);
    free(again.arrivals);
    free(bytes);
}

/* Two columns of intervals of 10 ms, the first of which was omitted. */
static struct intervals prepared(struct intervals *kept)
{
    static const enum quantity quantities[] = {RECEIVED_PACKETS, LOST_PACKETS};
    return (struct intervals){.length = 10000000, .omit = 10000000, .columns = 2,
                              .quantities = quantities, .readings = kept->readings,
                              .room = kept->room};
}

static void check_intervals_of(const uint8_t *data, size_t size)
{
    static struct intervals intervals, again; /* their memory is kept */
    size_t length;
    intervals = prepared(&intervals);
    if (!intervals_decode(data, size, &intervals))
        return;
    must(intervals.count > 1 && intervals.count <= INTERVALS_LIMIT && intervals.count <= size);
    for (size_t i = 1; i < intervals.count; i++)
        must(intervals_end(&intervals, i - 1) <= intervals_end(&intervals, i));
    unsigned char *bytes =
        intervals_encode((const struct intervals *[]){&intervals}, 1, &length);
    again = prepared(&again);
    must(length <= size && intervals_decode(bytes, length, &again));
    must(again.count == intervals.count && again.elapsed == intervals.elapsed);
    must(memcmp(again.readings, intervals.readings,
                intervals.count * intervals.columns * sizeof *intervals.readings) == 0);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_intervals_of(data, size);
    struct trace trace;
    const char *problem = NULL;
    if (!trace_decode(data, size, &trace, &problem)) {
        must(problem && *problem && trace.arrivals == NULL);
        return 0;
    }
    must(problem == NULL && trace.recorded <= trace.arrived && trace.recorded <= TRACE_LIMIT);
    for (uint64_t i = 0; i < trace.recorded; i++)
        must(trace.arrivals[i].number < trace.sent);
    check_round_trip(&trace, size);
    must(isfinite(trace_jitter(&trace)) && trace_jitter(&trace) >= 0);
    must(trace_before_loss(&trace) < trace.recorded + (trace.recorded == 0));
    check_losses(&trace);
    free(trace.arrivals);
    return 0;
}
