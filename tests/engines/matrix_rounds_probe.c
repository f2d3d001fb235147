/* Reads numbers of ranks; prints for each a line a round with every rank's partner. */
#include "../mpi/matrix_rounds.c"

#include <stdio.h>

int main(void)
{
    int ranks;
    while (scanf("%d", &ranks) == 1)
        for (int round = 0; round < matrix_rounds(ranks); round++)
            for (int rank = 0; rank < ranks; rank++)
                printf("%d%c", matrix_partner(ranks, round, rank), rank + 1 < ranks ? ' ' : '\n');
    return 0;
}
