/* For LD_PRELOAD: a message takes its sender 2 ms, and the rank LATE_RANK, or the last one, gets no
 * CPU when it leaves a barrier until a short stream has been sent and the MPI library knows of it,
 * nor for 20 ms when it has looked for a message in vain. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#define MS 1000000
#define MESSAGE const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm

static void pass(long nanoseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

static int is_late(MPI_Comm comm)
{
    const char *late = getenv("LATE_RANK");
    int rank, ranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    return rank == (late ? atoi(late) : ranks - 1);
}

int MPI_Send(MESSAGE)
{
    int result = PMPI_Send(data, count, type, to, tag, comm);
    pass(2 * MS);
    return result;
}

int MPI_Isend(MESSAGE, MPI_Request *request)
{
    int result = PMPI_Isend(data, count, type, to, tag, comm, request);
    pass(2 * MS);
    return result;
}

int MPI_Barrier(MPI_Comm comm)
{
    int flag, result = PMPI_Barrier(comm);
    for (int look = 0; is_late(comm) && look < 50; look++) {
        pass(MS);
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
    }
    return result;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    int result = PMPI_Test(request, flag, status);
    if (!*flag && is_late(MPI_COMM_WORLD))
        pass(20 * MS);
    return result;
}
