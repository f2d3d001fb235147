/* What the ranks hand to a collective operation, and whether what they got back is right. */
#ifndef RAIL_MPI_COLLECTIVE_LOAD_H
#define RAIL_MPI_COLLECTIVE_LOAD_H

#include <stdbool.h>
#include <stddef.h>

/* The i-th number that a rank gives to a sum is small and whole, so that floats add up exactly in
 * any order, for 100,000 ranks. */
void fill_summands(float *numbers, size_t count, int rank);

/* The bytes that one rank has for another one. */
void fill_bytes(unsigned char *bytes, size_t count, int from, int to);

/* Every one of them wrong, so that only what arrives can be right. */
void spoil_bytes(unsigned char *bytes, size_t count, int from, int to);

/* True if they are the sums over so many ranks of their numbers from the first on, or what
 * fill_bytes wrote. */
bool sums_right(const float *sums, size_t first, size_t count, int ranks);
bool bytes_right(const unsigned char *bytes, size_t count, int from, int to);

#endif
