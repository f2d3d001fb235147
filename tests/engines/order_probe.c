/* Reads the number of blocks, 1 for a random order, and how many turns; prints the turns' blocks. */
#include "../disk/order.c"

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    uint64_t blocks;
    int random, turns;
    struct order order;
    if (scanf("%" SCNu64 " %d %d", &blocks, &random, &turns) != 3)
        return 1;
    order_begin(&order, blocks, random, 1);
    while (turns-- > 0)
        printf("%" PRIu64 "\n", order_next(&order));
    return 0;
}
