/* Reads whole numbers, prints count, lowest, highest and the quantiles the engines report. */
#include "histogram.h"

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    static struct histogram histogram;
    const double quantiles[] = {0.5, 0.9, 0.99, 0.999};
    uint64_t value;
    histogram_clear(&histogram);
    while (scanf("%" SCNu64, &value) == 1)
        histogram_add(&histogram, value);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64, histogram.count, histogram.lowest,
           histogram.highest);
    for (int i = 0; i < 4; i++)
        printf(" %.17g", histogram_quantile(&histogram, quantiles[i]));
    putchar('\n');
    return 0;
}
