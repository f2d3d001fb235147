/* Reads sequence numbers as they arrive, prints unique, duplicates, reordered and too late. */
#include "sequence.h"

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    static struct sequence sequence;
    uint64_t number;
    sequence_clear(&sequence);
    while (scanf("%" SCNu64, &number) == 1)
        sequence_add(&sequence, number);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", sequence.unique,
           sequence.duplicates, sequence.reordered, sequence.too_late);
    return 0;
}
