#include "order.h"

#include "../lib/splitmix.h"

#define ROUNDS 3

void order_begin(struct order *order, uint64_t blocks, bool random, uint64_t key)
{
    *order = (struct order){.blocks = blocks, .random = random, .key = splitmix_at(key, 1)};
    while (order->bits < 63 && (1ull << order->bits) < blocks)
        order->bits++;
}

/* Moves the numbers of so many bits around among themselves: adding, multiplying by an odd number
 * and folding the upper half into the lower can each be undone, so no two meet. */
static uint64_t permuted(const struct order *order, uint64_t number)
{
    static const uint64_t odd[ROUNDS] = {0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9,
                                         0x94D049BB133111EB};
    uint64_t mask = (1ull << order->bits) - 1;
    unsigned int half = (order->bits + 1) / 2;
    for (unsigned int i = 0; i < ROUNDS; i++) {
        number = ((number + (order->key >> (16 * i))) * odd[i]) & mask;
        number ^= number >> (half ? half : 1);
    }
    return number;
}

static uint64_t take_turn(struct order *order, uint64_t turns)
{
    uint64_t turn = order->next++;
    if (order->next >= turns)
        order->next = 0;
    return turn;
}

uint64_t order_next(struct order *order)
{
    if (!order->random)
        return take_turn(order, order->blocks);
    for (;;) {
        uint64_t block = permuted(order, take_turn(order, 1ull << order->bits));
        if (order->next == 0)
            order->key = splitmix_at(order->key, 1);
        if (block < order->blocks)
            return block;
    }
}
