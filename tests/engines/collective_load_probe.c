/* Reads a number of ranks, a count and a place; says whether sums and bytes are right, and whether
 * they still are with one of them changed at that place. */
#include "../mpi/collective_load.c"

#include <stdio.h>

static float sums[100000], summands[100000];
static unsigned char bytes[100000];

int main(void)
{
    int ranks;
    size_t count, place;
    while (scanf("%d %zu %zu", &ranks, &count, &place) == 3) {
        memset(sums, 0, sizeof sums);
        for (int rank = 0; rank < ranks; rank++) {
            fill_summands(summands, count, rank);
            for (size_t i = 0; i < count; i++)
                sums[i] += summands[i];
        }
        fill_bytes(bytes, count, ranks, 1);
        printf("%d %d", sums_right(sums, 0, count, ranks), bytes_right(bytes, count, ranks, 1));
        sums[place] += 1;
        bytes[place] ^= 1;
        printf(" %d %d", sums_right(sums, 0, count, ranks), bytes_right(bytes, count, ranks, 1));
        spoil_bytes(bytes, count, ranks, 1);
        bytes[place] ^= 0xFF;
        printf(" %d\n", count > 1 && bytes_right(bytes, count, ranks, 1));
    }
    return 0;
}
