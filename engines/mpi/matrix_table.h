/* A matrix of all pairs for people: the numbers, if there is room, and where the slow ones are. */
#ifndef RAIL_MPI_MATRIX_TABLE_H
#define RAIL_MPI_MATRIX_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#define MATRIX_SHOWN 16 /* ranks; of more, only the worst row and column are shown */

struct matrix_table {
    const char *title; /* what the numbers are, with their unit */
    double scale;      /* shown value = value / scale */
    int digits;        /* decimals shown */
    bool higher_is_better;
};

/* The median of a rank's row (from it to the others) or column (from the others to it); values:
 * ranks x ranks, row after row, the diagonal not looked at; room: for ranks numbers. */
double matrix_median(const double *values, int ranks, int rank, bool row, double *room);

/* The rank whose row or column has the worst median. */
int matrix_worst(const struct matrix_table *table, const double *values, int ranks, bool row,
                 double *room);

void matrix_print(FILE *out, const struct matrix_table *table, const double *values, int ranks,
                  double *room);

#endif
