/* A program of two ranks or more on one machine whose mpirun gets no CPU for three seconds from the
 * moment that it would hear of the last MPI_Finalize. To be linked with -rdynamic, so that the MPI
 * library calls this PMIx_Finalize. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

static bool stops;

int PMIx_Finalize(const void *info, size_t count)
{
    pid_t mpirun = getppid();
    int (*finalize)(const void *, size_t) =
        (int (*)(const void *, size_t))dlsym(RTLD_NEXT, "PMIx_Finalize");
    if (stops) {
        kill(mpirun, SIGSTOP);
        if (fork() == 0) {
            setsid();
            sleep(3);
            kill(mpirun, SIGCONT);
            _exit(0);
        }
    }
    stops = false;
    return finalize(info, count);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    stops = rank == 1;
    MPI_Finalize();
    return 0;
}
