#include "collective_load.h"

#include <string.h>

#define RANK_CYCLE 31
#define PLACE_CYCLE 61
#define BYTE_CYCLE 251

void fill_summands(float *numbers, size_t count, int rank)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)(rank % RANK_CYCLE + (int)(i % PLACE_CYCLE));
}

bool sums_right(const float *sums, size_t first, size_t count, int ranks)
{
    long of_ranks = 0;
    for (int rank = 0; rank < ranks; rank++)
        of_ranks += rank % RANK_CYCLE;
    for (size_t i = 0; i < count; i++)
        if (sums[i] != (float)(of_ranks + (long)ranks * (long)((first + i) % PLACE_CYCLE)))
            return false;
    return true;
}

static unsigned char byte_for(int from, int to, size_t i)
{
    return (unsigned char)((size_t)from * 31 + (size_t)to * 17 + i % BYTE_CYCLE);
}

/* The first cycle byte by byte, the others as copies of what stands a cycle before: quick enough
 * to look at every byte. */
void fill_bytes(unsigned char *bytes, size_t count, int from, int to)
{
    for (size_t i = 0; i < count && i < BYTE_CYCLE; i++)
        bytes[i] = byte_for(from, to, i);
    for (size_t done = BYTE_CYCLE; done < count; done += BYTE_CYCLE)
        memcpy(bytes + done, bytes, count - done < BYTE_CYCLE ? count - done : BYTE_CYCLE);
}

bool bytes_right(const unsigned char *bytes, size_t count, int from, int to)
{
    for (size_t i = 0; i < count && i < BYTE_CYCLE; i++)
        if (bytes[i] != byte_for(from, to, i))
            return false;
    return count <= BYTE_CYCLE || memcmp(bytes, bytes + BYTE_CYCLE, count - BYTE_CYCLE) == 0;
}

void spoil_bytes(unsigned char *bytes, size_t count, int from, int to)
{
    fill_bytes(bytes, count, from, to);
    for (size_t i = 0; i < count; i++)
        bytes[i] ^= 0xFF;
}
