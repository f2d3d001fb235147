/* Who meets whom in which round, so that every two ranks meet once and nobody is in two pairs of a
 * round: the circle method for round-robin tournaments (E. Lucas, Récréations mathématiques 2,
 * 1883). */
#ifndef RAIL_MPI_MATRIX_ROUNDS_H
#define RAIL_MPI_MATRIX_ROUNDS_H

/* ranks - 1 if that many are even, else ranks, as one of them rests in each; ranks: at least 2. */
int matrix_rounds(int ranks);

/* The rank that this one meets in that round, from 0 on; its own number if it rests. */
int matrix_partner(int ranks, int round, int rank);

#endif
