/* Reads whole numbers into two histograms in turn, one of which had others before, merges them,
 * prints count, lowest, highest, the standard deviation and the quantiles the engines report. */
#include "histogram.h"

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    static struct histogram histogram, other;
    const double quantiles[] = {0.5, 0.9, 0.99, 0.999, 0.9999};
    uint64_t value;
    histogram_open(&histogram);
    for (uint64_t forgotten = 1; forgotten < UINT64_MAX / 3; forgotten *= 3)
        histogram_add(&histogram, forgotten);
    histogram_clear(&histogram);
    histogram_clear(&other);
    for (int i = 0; scanf("%" SCNu64, &value) == 1; i++)
        histogram_add(i % 2 ? &histogram : &other, value);
    histogram_merge(&histogram, &other);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64, histogram.count, histogram.lowest,
           histogram.highest);
    printf(" %.17g", histogram_deviation(&histogram));
    for (int i = 0; i < 5; i++)
        printf(" %.17g", histogram_quantile(&histogram, quantiles[i]));
    putchar('\n');
    return 0;
}
