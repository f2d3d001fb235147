#include "trace.h"

#include "failure.h"
#include "varints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times lie within 36 years of the first, so that no difference of two differences overflows. */
#define FARTHEST_NS (INT64_C(1) << 60)

static const unsigned char magic[4] = {'R', 'G', 'T', '1'};

static void put_trace(struct byte_sink *sink, const struct trace *trace)
{
    struct arrival before = {.number = UINT64_MAX};
    if (trace->recorded) {
        before.received = trace->arrivals[0].received;
        before.sent = trace->arrivals[0].sent;
    }
    for (size_t i = 0; i < sizeof magic; i++)
        put_byte(sink, magic[i]);
    put_varint(sink, trace->clock);
    put_varint(sink, trace->sent);
    put_varint(sink, trace->arrived);
    put_varint(sink, trace->recorded);
    put_varint(sink, before.received);
    put_varint(sink, before.sent);
    for (uint64_t i = 0; i < trace->recorded; i++) {
        const struct arrival *arrival = &trace->arrivals[i];
        put_zigzag(sink, arrival->number - before.number - 1);
        put_zigzag(sink, arrival->received - before.received);
        put_zigzag(sink, arrival->sent - before.sent);
        before = *arrival;
    }
}

size_t trace_length(const struct trace *trace)
{
    struct byte_sink sink = {0};
    put_trace(&sink, trace);
    return sink.length;
}

void trace_encode(const struct trace *trace, unsigned char *out)
{
    struct byte_sink sink = {.out = out};
    put_trace(&sink, trace);
}

static bool near(uint64_t time, uint64_t first)
{
    int64_t apart = (int64_t)(time - first);
    return apart >= -FARTHEST_NS && apart <= FARTHEST_NS;
}

static const char *get_arrivals(struct byte_source *source, struct trace *trace, struct arrival first)
{
    struct arrival before = first;
    before.number = UINT64_MAX;
    for (uint64_t i = 0; i < trace->recorded; i++) {
        before.number += 1 + get_zigzag(source);
        before.received += get_zigzag(source);
        before.sent += get_zigzag(source);
        if (source->broken)
            return "it ends too soon";
        if (before.number >= trace->sent)
            return "it has a datagram that was never sent";
        if (i == 0 && (before.received != first.received || before.sent != first.sent))
            return "its first arrival is not the one that its times count from";
        if (!near(before.received, first.received) || !near(before.sent, first.sent))
            return "its arrivals are more than 36 years apart";
        trace->arrivals[i] = before;
    }
    return source->at == source->end ? NULL : "there are bytes left over";
}

bool trace_decode(const unsigned char *bytes, size_t length, struct trace *trace,
                  const char **problem)
{
    struct byte_source source = {.at = bytes + sizeof magic, .end = bytes + length};
    struct arrival first;
    *trace = (struct trace){0};
    *problem = "it does not begin with RGT1";
    if (length < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return false;
    uint64_t clock = get_varint(&source);
    trace->sent = get_varint(&source);
    trace->arrived = get_varint(&source);
    trace->recorded = get_varint(&source);
    first.received = get_varint(&source);
    first.sent = get_varint(&source);
    *problem = "its head is broken";
    /* An arrival takes three bytes or more, so no small message claims much memory. */
    if (source.broken || clock > REALTIME_BOTH || trace->recorded > trace->arrived ||
        trace->recorded > TRACE_LIMIT || trace->sent > INT64_MAX || trace->arrived > INT64_MAX ||
        first.received > INT64_MAX || first.sent > INT64_MAX ||
        (trace->recorded == 0 && (first.received || first.sent)) ||
        trace->recorded > (uint64_t)(source.end - source.at) / 3)
        return false;
    trace->clock = (enum trace_clock)clock;
    trace->arrivals = calloc(trace->recorded + 1, sizeof *trace->arrivals);
    if (trace->arrivals == NULL)
        fail(OUT_OF_MEMORY, "no memory for a trace of %llu arrivals",
             (unsigned long long)trace->recorded);
    *problem = get_arrivals(&source, trace, first);
    if (*problem == NULL)
        return true;
    free(trace->arrivals);
    trace->arrivals = NULL;
    return false;
}

static int by_number(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

void trace_loss_runs(const struct trace *trace, loss_run *on_run, void *context)
{
    uint64_t *numbers = malloc((trace->recorded + 1) * sizeof *numbers);
    if (numbers == NULL)
        fail(OUT_OF_MEMORY, "no memory for the losses of a trace");
    for (uint64_t i = 0; i < trace->recorded; i++)
        numbers[i] = trace->arrivals[i].number;
    qsort(numbers, trace->recorded, sizeof *numbers, by_number);
    uint64_t due = 0;
    for (uint64_t i = 0; i < trace->recorded; i++) {
        if (numbers[i] > due)
            on_run(context, (int64_t)due - 1, numbers[i] - due);
        due = numbers[i] + 1; /* a duplicate says so twice */
    }
    if (trace->recorded == trace->arrived && trace->sent > due)
        on_run(context, (int64_t)due - 1, trace->sent - due);
    free(numbers);
}

double trace_jitter(const struct trace *trace)
{
    double jitter = 0;
    for (uint64_t i = 1; i < trace->recorded; i++) {
        const struct arrival *now = &trace->arrivals[i], *before = now - 1;
        double transit = (double)(int64_t)((now->received - now->sent) -
                                           (before->received - before->sent));
        jitter += ((transit < 0 ? -transit : transit) - jitter) / 16;
    }
    return jitter / 1e9;
}

uint64_t trace_before_loss(const struct trace *trace)
{
    uint64_t last = 0;
    while (last + 1 < trace->recorded &&
           trace->arrivals[last + 1].number == trace->arrivals[last].number + 1)
        last++;
    return last;
}

#define SKEW_POINTS 1000  /* the quickest datagrams, one of so many stretches of the trace */
#define FEWEST_POINTS 16
#define LARGEST_SKEW 5e-4 /* no clock is slewed by more (adjtimex) */

struct point {
    double sent, transit; /* ns */
};

/* The slope of the line below all points that is nearest to them: the edge of their lower hull that
 * spans their mean (Moon, Skelly and Towsley, INFOCOM 1999). The points are in order of `sent`. */
static double slope_below(const struct point *points, size_t count)
{
    const struct point *hull[SKEW_POINTS] = {0};
    size_t size = 0, edge = 1;
    double mean = 0;
    for (size_t i = 0; i < count; i++) {
        const struct point *c = &points[i];
        mean += c->sent / (double)count;
        for (; size >= 2; size--) {
            const struct point *a = hull[size - 2], *b = hull[size - 1];
            if ((b->sent - a->sent) * (c->transit - a->transit) >
                (b->transit - a->transit) * (c->sent - a->sent))
                break;
        }
        hull[size++] = c;
    }
    while (edge + 1 < size && hull[edge]->sent < mean)
        edge++;
    return (hull[edge]->transit - hull[edge - 1]->transit) /
           (hull[edge]->sent - hull[edge - 1]->sent);
}

/* The quickest datagram of each stretch; returns how many. */
static size_t quickest(const struct trace *trace, struct point points[SKEW_POINTS])
{
    const struct arrival *all = trace->arrivals;
    uint64_t stretches = trace->recorded < SKEW_POINTS ? trace->recorded : SKEW_POINTS;
    size_t count = 0;
    for (uint64_t i = 0; i < stretches; i++) {
        struct point least = {.transit = INFINITY};
        for (uint64_t at = i * trace->recorded / stretches;
             at < (i + 1) * trace->recorded / stretches; at++) {
            double sent = (double)(int64_t)(all[at].sent - all[0].sent);
            double transit = (double)(int64_t)(all[at].received - all[0].received) - sent;
            if (transit < least.transit)
                least = (struct point){sent, transit};
        }
        if (count == 0 || least.sent > points[count - 1].sent)
            points[count++] = least;
    }
    return count;
}

double trace_skew(const struct trace *trace, double *error)
{
    struct point points[SKEW_POINTS];
    size_t count = quickest(trace, points), half = count / 2;
    if (count < FEWEST_POINTS)
        return NAN;
    /* Two halves are two estimates, half of whose difference is their mean's standard error. */
    *error = fabs(slope_below(points, half) - slope_below(points + half, count - half)) / 2;
    return slope_below(points, count);
}

double trace_certain_skew(const struct trace *trace)
{
    double error, skew = trace_skew(trace, &error);
    return fabs(skew) <= LARGEST_SKEW && fabs(skew) > 2 * error ? skew : 0;
}
