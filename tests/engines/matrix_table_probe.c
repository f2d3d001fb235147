/* Reads a number of ranks and a matrix of rates; prints it as the engine does. */
#include "../mpi/matrix_table.c"

int main(void)
{
    static double values[64 * 64], room[64];
    const struct matrix_table table = {"throughput, Mbit/s", 1e6, 1, true};
    int ranks;
    if (scanf("%d", &ranks) != 1 || ranks < 2 || ranks > 64)
        return 1;
    for (int i = 0; i < ranks * ranks; i++)
        if (scanf("%lf", &values[i]) != 1)
            return 1;
    matrix_print(stdout, &table, values, ranks, room);
    return 0;
}
