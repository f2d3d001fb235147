#include "matrix_rounds.h"

int matrix_rounds(int ranks)
{
    return ranks % 2 ? ranks : ranks - 1;
}

/* Those on the circle are numbered modulo the rounds, an odd number: two of them meet when their
 * sum is twice the round. The one whose double is that meets the one in the centre, the last rank
 * of an even number, or else nobody. */
int matrix_partner(int ranks, int round, int rank)
{
    int circle = matrix_rounds(ranks);
    if (rank == circle)
        return round;
    int partner = (2 * round + circle - rank) % circle;
    if (partner != rank)
        return partner;
    return ranks % 2 ? rank : circle;
}
