/* Half of the time goes to single operations, each with a flush of its own, after which its data
 * is where it belongs: their times. The other half goes to `window` operations a flush: the
 * throughput. What arrived is looked at in the end. */
#include "onesided.h"

#include "collective_load.h"

#include "../lib/failure.h"
#include "../lib/histogram.h"
#include "../lib/memory.h"
#include "../lib/parameters.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define ORIGIN 0
#define TARGET 1
#define DONE_TAG 1
#define LOOK_NS 1000000        /* between two looks at the clock */
#define MOST_FLUSHES (1 << 16) /* likewise */

static struct {
    MPI_Win window;
    MPI_Errhandler errors;
    bool put;
    int size, slots;        /* pieces of memory, one for each operation of a flush; another one
                               for single operations */
    unsigned char *exposed; /* the window's memory */
    unsigned char *own;     /* what rank 0 writes from and reads into */
} access;

static struct histogram times; /* of single operations */

static bool goes_on(const struct phase *phase, uint64_t now)
{
    return phase->count ? phase->done < phase->count : now < phase->stop;
}

static unsigned char *piece(unsigned char *memory, int slot)
{
    return memory + (size_t)slot * (size_t)access.size;
}

static void operate(int slot)
{
    unsigned char *own = piece(access.own, slot);
    MPI_Aint offset = (MPI_Aint)slot * access.size;
    if (access.put)
        MPI_Put(own, access.size, MPI_BYTE, TARGET, offset, access.size, MPI_BYTE, access.window);
    else
        MPI_Get(own, access.size, MPI_BYTE, TARGET, offset, access.size, MPI_BYTE, access.window);
}

static void time_singly(struct phase *phase)
{
    uint64_t now;
    do {
        uint64_t began = now_ns();
        operate(access.slots);
        MPI_Win_flush(TARGET, access.window);
        now = now_ns();
        histogram_add(&times, now - began);
        phase->done++;
    } while (goes_on(phase, now));
}

/* Returns seconds. */
static double time_windows(struct phase *phase)
{
    uint64_t began = now_ns(), now = began, flushes = 1, slots = (uint64_t)access.slots;
    do {
        uint64_t left = phase->count ? (phase->count - phase->done + slots - 1) / slots : flushes;
        uint64_t next = left < flushes ? left : flushes, then = now;
        for (uint64_t i = 0; i < next; i++) {
            for (int slot = 0; slot < access.slots; slot++)
                operate(slot);
            MPI_Win_flush(TARGET, access.window);
        }
        phase->done += next * slots;
        now = now_ns();
        if (now - then < LOOK_NS / 2 && flushes < MOST_FLUSHES)
            flushes *= 2;
    } while (goes_on(phase, now));
    return ns_seconds(now - began);
}

/* Puts the data where it comes from and spoils where it goes to. */
static void lay_out(const struct job *job)
{
    bool origin = job->rank == ORIGIN;
    unsigned char *memory = origin ? access.own : access.exposed;
    for (int slot = 0; slot <= access.slots; slot++)
        if (origin == access.put)
            fill_bytes(piece(memory, slot), (size_t)access.size, ORIGIN, slot);
        else
            spoil_bytes(piece(memory, slot), (size_t)access.size, ORIGIN, slot);
    MPI_Win_sync(access.window);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What was laid out must be where it was to go. */
static void check(const struct job *job)
{
    if (number_of(job->launch, "verify") == 0)
        return;
    bool origin = job->rank == ORIGIN, right = true;
    unsigned char *memory = origin ? access.own : access.exposed;
    char problem[MESSAGE_LIMIT];
    MPI_Win_sync(access.window);
    for (int slot = 0; slot <= access.slots && origin != access.put; slot++)
        right = right && bytes_right(piece(memory, slot), (size_t)access.size, ORIGIN, slot);
    snprintf(problem, sizeof problem,
             "after %s, rank %d has other data than was sent: the MPI library, its transport or a "
             "host's memory is broken",
             mode_of(job->launch), job->rank);
    must_agree(job, WRONG_DATA, right ? NULL : problem);
}

/* Rank 1 waits in a receive, where a library that moves the data itself makes progress. */
static void signal_done(const struct job *job)
{
    if (job->rank == ORIGIN)
        MPI_Send(NULL, 0, MPI_BYTE, TARGET, DONE_TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(NULL, 0, MPI_BYTE, ORIGIN, DONE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void fail_for_window(MPI_Win *window, int *error, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    (void)window;
    MPI_Error_string(*error, text, &length);
    fail(MPI_FAILED, "one-sided communication failed: %s", text);
}

static void prepare(struct job *job, struct fields *settings)
{
    size_t size = size_of(job->launch, "size"), pieces = size_of(job->launch, "window") + 1;
    (void)settings;
    if (size > INT_MAX)
        fail(BAD_PARAMETER, "--size %zu: an operation takes at most %d bytes", size, INT_MAX);
    must_fit(2 * pieces, size);
    histogram_open(&times);
    access.put = is_mode(job->launch, "put");
    access.size = (int)size;
    access.slots = (int)pieces - 1;
    access.own = test_buffer(size * pieces);
    MPI_Win_allocate((MPI_Aint)(job->rank == TARGET ? size * pieces : 0), 1, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &access.exposed, &access.window);
    MPI_Win_create_errhandler(fail_for_window, &access.errors);
    MPI_Win_set_errhandler(access.window, access.errors);
    MPI_Win_lock_all(0, access.window);
}

static void measure(struct job *job, const struct attempt *attempt, struct result *result)
{
    double seconds = 0;
    bool origin = job->rank == ORIGIN;
    histogram_clear(&times);
    lay_out(job);
    usage_begin_process(&job->usage);
    struct phase singly = phase_begin(attempt);
    if (origin)
        time_singly(&singly);
    struct phase windows = phase_begin(attempt);
    if (origin)
        seconds = time_windows(&windows);
    signal_done(job);
    usage_end(&job->usage);
    check(job);
    if (!origin)
        return;
    result_set(result, "operations", (double)times.count);
    result_set(result, "throughput", 8.0 * access.size * (double)windows.done / seconds);
    result_set(result, "rate", (double)windows.done / seconds);
    result_set_times(result, "time", &times);
}

static void release(struct job *job)
{
    (void)job;
    MPI_Win_unlock_all(access.window);
    MPI_Win_free(&access.window);
    MPI_Errhandler_free(&access.errors);
    free(access.own);
}

const struct mode mpi_onesided = {
    .names = ONE_SIDED,
    .ranks = 2,
    .prepare = prepare,
    .measure = measure,
    .release = release,
};
