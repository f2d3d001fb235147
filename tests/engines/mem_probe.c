/* Tries the random cycle and the random order of rail-mem: "cycle SLOTS STRIDE" says after how many
 * loads the chase is back for the first time, and whether it was at each slot once; "order SLOTS"
 * writes the order. */
#include "../../engines/mem/chase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void cycle(size_t slots, size_t stride)
{
    unsigned char *memory = calloc(slots, stride), *seen = calloc(slots, 1);
    struct arrays arrays = {.at = chase_link(memory, slots, stride, 1)};
    void *start = arrays.at;
    size_t loads = 0;
    do {
        chase_follow(&arrays, 0, 1, 1);
        seen[(size_t)((unsigned char *)arrays.at - memory) / stride]++;
        loads++;
    } while (arrays.at != start && loads <= slots);
    size_t once = 0;
    for (size_t i = 0; i < slots; i++)
        once += seen[i] == 1;
    chase_follow(&arrays, 0, slots - 1, 3); /* 3 short of three times round */
    chase_follow(&arrays, 0, 3, 1);
    printf("%zu %zu %d\n", loads, once, arrays.at == start);
}

int main(void)
{
    char what[16];
    size_t slots, stride;
    while (scanf("%15s %zu %zu", what, &slots, &stride) == 3) {
        if (strcmp(what, "cycle") == 0) {
            cycle(slots, stride);
            continue;
        }
        uint32_t *order = malloc(slots * sizeof *order);
        random_order(order, slots, stride);
        for (size_t i = 0; i < slots; i++)
            printf("%u ", order[i]);
        printf("\n");
    }
    return 0;
}
