/* Reads a seed and a count; prints the generator's outputs, taken in turn and by their numbers. */
#include "splitmix.h"

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    uint64_t seed, state, count;
    if (scanf("%" SCNu64 " %" SCNu64, &seed, &count) != 2)
        return 1;
    state = seed;
    for (uint64_t i = 1; i <= count; i++)
        printf("%" PRIu64 " %" PRIu64 "\n", splitmix_next(&state), splitmix_at(seed, i));
    return 0;
}
