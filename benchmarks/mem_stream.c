/* For benchmarks/mem.py: STREAM's copy and triad as a compiler makes them of plain loops at -O3
 * with OpenMP: every thread touches its part first, and bytes are those that the loop names. STREAM
 * tells the best of its repetitions; this tells their mean after the first, as rail-mem does.
 *     mem_stream copy|triad BYTES REPETITIONS     BYTES: of all arrays together; prints byte/s */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copy(double *restrict c, const double *restrict a, size_t n)
{
#pragma omp parallel for
    for (size_t i = 0; i < n; i++)
        c[i] = a[i];
}

static void triad(double *restrict a, const double *restrict b, const double *restrict c, size_t n)
{
#pragma omp parallel for
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + 3.0 * c[i];
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int copies = strcmp(argv[1], "copy") == 0;
    size_t arrays = copies ? 2 : 3, n = strtoull(argv[2], NULL, 10) / (arrays * sizeof(double));
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c);
    double begin = 0;
    if (!a || !b || !c)
        return 1;
#pragma omp parallel for
    for (size_t i = 0; i < n; i++) {
        a[i] = 1;
        b[i] = 2;
        if (!copies)
            c[i] = 0;
    }
    long repetitions = strtol(argv[3], NULL, 10);
    for (long i = 0; i <= repetitions; i++) {
        if (i == 1)
            begin = omp_get_wtime();
        if (copies)
            copy(b, a, n);
        else
            triad(a, b, c, n);
    }
    double bytes = (double)(arrays * n * sizeof *a) * (double)repetitions;
    printf("%.6e\n", bytes / (omp_get_wtime() - begin));
    return a[n / 2] + b[n / 3] == 0;
}
