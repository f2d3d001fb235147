/* A histogram of times in fixed memory: exact count, sum and extremes, quantiles within 0.05 %. */
#ifndef RAIL_HISTOGRAM_H
#define RAIL_HISTOGRAM_H

#include "result.h"

#include <stdint.h>

/* Values below 2^SUB_BITS have a bucket each; above, every power of two is cut into 2^SUB_BITS
 * buckets, none wider than 1/2^SUB_BITS of its values. */
#define SUB_BITS 10
#define BUCKETS ((64 - SUB_BITS + 1) << SUB_BITS)

struct histogram {
    uint64_t count, sum, lowest, highest;
    uint64_t origin; /* the first value */
    double squares;  /* sum of (value - origin)^2, which loses nothing where values are alike */
    uint64_t buckets[BUCKETS];
};

/* Empties one of unknown content. All of its memory is there afterwards, so that adding to it
 * meets no page that the kernel has yet to give. */
void histogram_open(struct histogram *histogram);

/* Empties one that was opened or is all zero. It touches only what was added to: the rest, of some
 * 440 KiB, stays out of the caches, and out of memory if nobody opened it. */
void histogram_clear(struct histogram *histogram);

void histogram_add(struct histogram *histogram, uint64_t value);

/* Adds another histogram's values. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/* The smallest value that at least the fraction q (0 to 1) of all values do not exceed, to the
 * bucket's middle and never outside the extremes; there must be at least one value. */
double histogram_quantile(const struct histogram *histogram, double q);

/* The values' standard deviation as a sample (n - 1); 0 for a single one. */
double histogram_deviation(const struct histogram *histogram);

/* Sets NAME_min, _mean, _max, _stdev, _p50 ... _p9999, in seconds, from nanoseconds; there must be
 * at least one value. name: such as "rtt". */
void result_set_times(struct result *result, const char *name, const struct histogram *histogram);

/* Likewise of values of which so many never came, and count as longer than any in percentiles: one
 * that falls among them isn't set. */
void result_set_times_and_losses(struct result *result, const char *name,
                                 const struct histogram *histogram, uint64_t lost);

#endif
