#include "histogram.h"

#include <math.h>
#include <string.h>

void histogram_clear(struct histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
    histogram->lowest = UINT64_MAX;
}

/* The octave's number times its buckets, plus the SUB_BITS bits below the leading one. */
static size_t bucket_of(uint64_t value)
{
    if (value < 1u << SUB_BITS)
        return (size_t)value;
    int shift = 63 - __builtin_clzll(value) - SUB_BITS;
    return ((size_t)shift << SUB_BITS) + (size_t)(value >> shift);
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
    histogram->count++;
    histogram->sum += value;
    if (value < histogram->lowest)
        histogram->lowest = value;
    if (value > histogram->highest)
        histogram->highest = value;
    histogram->buckets[bucket_of(value)]++;
}

double histogram_quantile(const struct histogram *histogram, double q)
{
    uint64_t rank = (uint64_t)ceil(q * (double)histogram->count);
    uint64_t seen = 0;
    size_t bucket = 0;
    for (; bucket < BUCKETS - 1; bucket++) {
        seen += histogram->buckets[bucket];
        if (seen >= rank && seen > 0)
            break;
    }
    double value = middle_of(bucket);
    return fmin(fmax(value, (double)histogram->lowest), (double)histogram->highest);
}

void result_set_round_trips(struct result *result, const struct histogram *histogram)
{
    result_set(result, "round_trips", (double)histogram->count);
    result_set(result, "rtt_min", (double)histogram->lowest / 1e9);
    result_set(result, "rtt_mean", (double)histogram->sum / (double)histogram->count / 1e9);
    result_set(result, "rtt_max", (double)histogram->highest / 1e9);
    result_set(result, "rtt_p50", histogram_quantile(histogram, 0.5) / 1e9);
    result_set(result, "rtt_p90", histogram_quantile(histogram, 0.9) / 1e9);
    result_set(result, "rtt_p99", histogram_quantile(histogram, 0.99) / 1e9);
    result_set(result, "rtt_p999", histogram_quantile(histogram, 0.999) / 1e9);
}
