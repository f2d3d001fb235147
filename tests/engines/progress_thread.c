/* For LD_PRELOAD: an MPI library whose barrier has a thread of its own work for 50 ms of CPU time. */
#include <mpi.h>
#include <pthread.h>
#include <time.h>

static void *work(void *unused)
{
    struct timespec t;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while (t.tv_sec == 0 && t.tv_nsec < 50000000);
    return unused;
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return PMPI_Ibarrier(comm, request);
}
