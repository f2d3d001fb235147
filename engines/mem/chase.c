#include "chase.h"

#include "../lib/splitmix.h"

#define UNROLL 32

/* 0 to below - 1. */
static size_t random_below(uint64_t *state, size_t below)
{
    return (size_t)(((unsigned __int128)splitmix_next(state) * below) >> 64);
}

/* Sattolo's shuffle of a permutation that begins as identity ends as one cycle. */
void *chase_link(unsigned char *memory, size_t slots, size_t stride, uint64_t seed)
{
    for (size_t i = 0; i < slots; i++)
        *(void **)(void *)(memory + i * stride) = memory + i * stride;
    for (size_t i = slots - 1; i > 0; i--) {
        void **a = (void **)(void *)(memory + i * stride);
        void **b = (void **)(void *)(memory + random_below(&seed, i) * stride);
        void *pointer = *a;
        *a = *b;
        *b = pointer;
    }
    return memory;
}

void chase_follow(struct arrays *arrays, size_t first, size_t count, size_t passes)
{
    void *at = arrays->at;
    size_t left = count * passes;
    (void)first;
    for (; left >= UNROLL; left -= UNROLL) {
        _Pragma("GCC unroll 32") for (int i = 0; i < UNROLL; i++) at = *(void **)at;
    }
    for (; left > 0; left--)
        at = *(void **)at;
    arrays->at = at;
}

void random_order(uint32_t *order, size_t slots, uint64_t seed)
{
    for (size_t i = 0; i < slots; i++)
        order[i] = (uint32_t)i;
    for (size_t i = slots - 1; i > 0; i--) {
        size_t j = random_below(&seed, i + 1);
        uint32_t slot = order[i];
        order[i] = order[j];
        order[j] = slot;
    }
}
