/* The order in which a thread touches its file's blocks: each once before any comes again. */
#ifndef RAIL_DISK_ORDER_H
#define RAIL_DISK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct order {
    uint64_t blocks; /* how many there are, at least one */
    bool random;
    unsigned int bits; /* random: the smallest power of two that holds them */
    uint64_t next;     /* position in the pass */
    uint64_t key;      /* random: of this pass's permutation */
};

/* key: another one gives another random order. */
void order_begin(struct order *order, uint64_t blocks, bool random, uint64_t key);

/* The block whose turn it is, from 0. After the last of a pass comes the first of the next, which
 * in a random order has a permutation of its own. */
uint64_t order_next(struct order *order);

#endif
