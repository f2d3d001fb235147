/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): pseudo-random 64 bit numbers by a seed. */
#ifndef RAIL_SPLITMIX_H
#define RAIL_SPLITMIX_H

#include <stdint.h>

#define SPLITMIX_STEP 0x9E3779B97F4A7C15u /* between the generator's states */

/* The finalizer: scrambles a number, one to one. */
static inline uint64_t splitmix_mix(uint64_t number)
{
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9u;
    number = (number ^ number >> 27) * 0x94D049BB133111EBu;
    return number ^ number >> 31;
}

/* The generator's number-th output, from 1, for that seed. */
static inline uint64_t splitmix_at(uint64_t seed, uint64_t number)
{
    return splitmix_mix(seed + number * SPLITMIX_STEP);
}

/* The generator's next output; *state: the seed at first. */
static inline uint64_t splitmix_next(uint64_t *state)
{
    return splitmix_mix(*state += SPLITMIX_STEP);
}

#endif
