#include "histogram.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The octave's number times its buckets, plus the SUB_BITS bits below the leading one. */
static size_t bucket_of(uint64_t value)
{
    if (value < 1u << SUB_BITS)
        return (size_t)value;
    int shift = 63 - __builtin_clzll(value) - SUB_BITS;
    return ((size_t)shift << SUB_BITS) + (size_t)(value >> shift);
}

/* The buckets from the lowest value's to the highest one's; there must be at least one value. */
static size_t first_bucket(const struct histogram *histogram)
{
    return bucket_of(histogram->lowest);
}

static size_t last_bucket(const struct histogram *histogram)
{
    return bucket_of(histogram->highest);
}

void histogram_open(struct histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
    histogram->lowest = UINT64_MAX;
}

void histogram_clear(struct histogram *histogram)
{
    if (histogram->count > 0) {
        size_t first = first_bucket(histogram), count = last_bucket(histogram) - first + 1;
        memset(&histogram->buckets[first], 0, count * sizeof *histogram->buckets);
    }
    histogram->count = histogram->sum = histogram->highest = 0;
    histogram->squares = 0;
    histogram->lowest = UINT64_MAX;
}

static double middle_of(size_t bucket)
{
    if (bucket < 2u << SUB_BITS)
        return (double)bucket;
    size_t shift = (bucket >> SUB_BITS) - 1;
    size_t leading = (bucket & ((1u << SUB_BITS) - 1)) | (1u << SUB_BITS);
    return ldexp((double)leading + 0.5, (int)shift);
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
    if (histogram->count++ == 0)
        histogram->origin = value;
    double distance = (double)(int64_t)(value - histogram->origin);
    histogram->squares += distance * distance;
    histogram->sum += value;
    if (value < histogram->lowest)
        histogram->lowest = value;
    if (value > histogram->highest)
        histogram->highest = value;
    histogram->buckets[bucket_of(value)]++;
}

/* Sum of (value - origin). */
static double distances(const struct histogram *histogram)
{
    return (double)(int64_t)(histogram->sum - histogram->count * histogram->origin);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0)
        into->origin = from->origin;
    double apart = (double)(int64_t)(from->origin - into->origin);
    into->squares += from->squares + 2 * apart * distances(from) +
                     (double)from->count * apart * apart;
    into->count += from->count;
    into->sum += from->sum;
    if (from->lowest < into->lowest)
        into->lowest = from->lowest;
    if (from->highest > into->highest)
        into->highest = from->highest;
    for (size_t i = first_bucket(from); i <= last_bucket(from); i++)
        into->buckets[i] += from->buckets[i];
}

/* The rank-th smallest value, from 1, at most the count. */
static double value_at(const struct histogram *histogram, uint64_t rank)
{
    uint64_t cumulated = 0;
    size_t bucket = first_bucket(histogram), last = last_bucket(histogram);
    for (; bucket < last; bucket++) {
        cumulated += histogram->buckets[bucket];
        if (cumulated >= rank && cumulated > 0)
            break;
    }
    double value = middle_of(bucket);
    return fmin(fmax(value, (double)histogram->lowest), (double)histogram->highest);
}

static uint64_t rank_of(double q, uint64_t count)
{
    return (uint64_t)ceil(q * (double)count);
}

double histogram_quantile(const struct histogram *histogram, double q)
{
    return value_at(histogram, rank_of(q, histogram->count));
}

static double mean_of(const struct histogram *histogram)
{
    return (double)histogram->sum / (double)histogram->count;
}

double histogram_deviation(const struct histogram *histogram)
{
    if (histogram->count < 2)
        return 0;
    double n = (double)histogram->count, sum = distances(histogram);
    return sqrt(fmax(histogram->squares - sum * sum / n, 0) / (n - 1));
}

static void set_time(struct result *result, const char *name, const char *suffix, double ns)
{
    char metric[64];
    snprintf(metric, sizeof metric, "%s_%s", name, suffix);
    result_set(result, metric, ns / 1e9);
}

void result_set_times_and_losses(struct result *result, const char *name,
                                 const struct histogram *histogram, uint64_t lost)
{
    static const struct {
        const char *suffix;
        double q;
    } quantiles[] = {
        {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}, {"p9999", 0.9999},
    };
    set_time(result, name, "min", (double)histogram->lowest);
    set_time(result, name, "mean", mean_of(histogram));
    set_time(result, name, "max", (double)histogram->highest);
    set_time(result, name, "stdev", histogram_deviation(histogram));
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        uint64_t rank = rank_of(quantiles[i].q, histogram->count + lost);
        if (rank <= histogram->count)
            set_time(result, name, quantiles[i].suffix, value_at(histogram, rank));
    }
}

void result_set_times(struct result *result, const char *name, const struct histogram *histogram)
{
    result_set_times_and_losses(result, name, histogram, 0);
}
