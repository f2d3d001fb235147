/* For LD_PRELOAD into both ranks of a job on one machine: ends a rank that sends a ready message
 * before the other rank has posted its receive. What the two count is in the file READY_WATCH. */
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* As in engines/mpi/pair.h: what has a receive of its own, at once or before. */
enum { START_TAG = 2, FOUND_TAG = 6, GRANT_TAG = 7, LAST_TAG = GRANT_TAG };

static struct counts {
    _Atomic long posted[2], sent[2], ready; /* by the rank that receives */
} *counts;

static int other(void)
{
    int rank;
    if (counts == NULL) {
        int fd = open(getenv("READY_WATCH"), O_RDWR);
        counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (counts == MAP_FAILED)
            abort();
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return 1 - rank;
}

static int is_counted(int tag)
{
    return tag != START_TAG && (tag < FOUND_TAG || tag > LAST_TAG) && tag <= LAST_TAG;
}

static void count_sent(int tag, int is_ready)
{
    int to = other();
    if (!is_counted(tag))
        return;
    long number = ++counts->sent[to];
    counts->ready += is_ready;
    if (is_ready && number > counts->posted[to]) {
        fprintf(stderr, "message %ld: no receive is posted\n", number);
        _exit(99);
    }
}

#define MESSAGE const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm

int MPI_Send(MESSAGE)
{
    count_sent(tag, 0);
    return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Rsend(MESSAGE)
{
    count_sent(tag, 1);
    return PMPI_Rsend(data, count, type, to, tag, comm);
}

int MPI_Irsend(MESSAGE, MPI_Request *request)
{
    count_sent(tag, 1);
    return PMPI_Irsend(data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int result = PMPI_Irecv(data, count, type, from, tag, comm, request);
    int own = 1 - other();
    if (is_counted(tag))
        counts->posted[own]++;
    return result;
}

int MPI_Cancel(MPI_Request *request)
{
    int own = 1 - other();
    counts->posted[own]--;
    return PMPI_Cancel(request);
}
