/* Latency: pointers that each wait for the one before. */
#ifndef RAIL_MEM_CHASE_H
#define RAIL_MEM_CHASE_H

#include "kernels.h"

/* Links the slots of memory, `stride` bytes apart, to one random cycle through all of them: the
 * first word of each is a pointer to the next one's. Returns the first slot. */
void *chase_link(unsigned char *memory, size_t slots, size_t stride, uint64_t seed);

/* Follows count times passes pointers from arrays->at. */
kernel chase_follow;

/* The slots of a random order without repetition, for mode random. */
void random_order(uint32_t *order, size_t slots, uint64_t seed);

#endif
