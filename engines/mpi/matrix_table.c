#include "matrix_table.h"

#include <stdlib.h>

#define COLUMN 11

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double matrix_median(const double *values, int ranks, int rank, bool row, double *room)
{
    size_t count = 0, n = (size_t)ranks, own = (size_t)rank;
    for (size_t other = 0; other < n; other++)
        if (other != own)
            room[count++] = row ? values[own * n + other] : values[other * n + own];
    qsort(room, count, sizeof *room, ascending);
    return (room[(count - 1) / 2] + room[count / 2]) / 2;
}

int matrix_worst(const struct matrix_table *table, const double *values, int ranks, bool row,
                 double *room)
{
    int worst = 0;
    double its = matrix_median(values, ranks, 0, row, room);
    for (int rank = 1; rank < ranks; rank++) {
        double median = matrix_median(values, ranks, rank, row, room);
        if (table->higher_is_better ? median < its : median > its) {
            worst = rank;
            its = median;
        }
    }
    return worst;
}

static void print_numbers(FILE *out, const struct matrix_table *table, const double *values,
                          int ranks)
{
    fprintf(out, "# %-*s", COLUMN - 2, "from\\to");
    for (int to = 0; to < ranks; to++)
        fprintf(out, " %*d", COLUMN, to);
    fputc('\n', out);
    for (int from = 0; from < ranks; from++) {
        fprintf(out, "%*d", COLUMN, from);
        for (int to = 0; to < ranks; to++, values++)
            if (from == to)
                fprintf(out, " %*s", COLUMN, "-");
            else
                fprintf(out, " %*.*f", COLUMN, table->digits, *values / table->scale);
        fputc('\n', out);
    }
}

static void print_worst(FILE *out, const struct matrix_table *table, const double *values,
                        int ranks, bool row, double *room)
{
    int worst = matrix_worst(table, values, ranks, row, room);
    double its = matrix_median(values, ranks, worst, row, room);
    double sum = 0;
    for (int rank = 0; rank < ranks; rank++)
        sum += rank == worst ? 0 : matrix_median(values, ranks, rank, row, room);
    fprintf(out, "# slowest %s: rank %d, median %.*f; the others' on average %.*f\n",
            row ? "row" : "column", worst, table->digits, its / table->scale, table->digits,
            sum / (ranks - 1) / table->scale);
}

void matrix_print(FILE *out, const struct matrix_table *table, const double *values, int ranks,
                  double *room)
{
    fprintf(out, "# %s, from the row's rank to the column's\n", table->title);
    if (ranks <= MATRIX_SHOWN)
        print_numbers(out, table, values, ranks);
    else
        fprintf(out, "# %d ranks are too many to show here: --json has them all\n", ranks);
    print_worst(out, table, values, ranks, true, room);
    print_worst(out, table, values, ranks, false, room);
}
