#include "collective_work.h"

#include "collective_load.h"

#include "../lib/failure.h"
#include "../lib/memory.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define ROOT 0

static const char *const modes[] = {
    [BARRIER] = "barrier",     [BCAST] = "bcast",         [REDUCE] = "reduce",
    [ALLREDUCE] = "allreduce", [ALLGATHER] = "allgather", [ALLTOALL] = "alltoall",
};

static enum collective named(const char *mode)
{
    size_t i = 0;
    while (strcmp(modes[i], mode) != 0)
        i++; /* the mode is one of them: who calls has looked */
    return (enum collective)i;
}

static bool is_sum(const struct work *w)
{
    return w->collective == REDUCE || w->collective == ALLREDUCE;
}

/* Pieces of size that this rank hands over, and that it gets in other memory than those. */
static size_t pieces_in(const struct work *w)
{
    return w->collective == ALLTOALL ? (size_t)w->ranks : w->collective != BARRIER;
}

static size_t pieces_out(const struct work *w)
{
    if (w->collective == ALLGATHER || w->collective == ALLTOALL)
        return (size_t)w->ranks;
    return is_sum(w);
}

/* For whom a piece of bytes is: in all but alltoall everybody gets the same. */
static int meant_for(const struct work *w, int rank)
{
    return w->collective == ALLTOALL ? rank : 0;
}

static void fill(const struct work *w)
{
    if (is_sum(w))
        fill_summands((float *)w->in, (size_t)w->count, w->rank);
    else
        for (size_t piece = 0; piece < pieces_in(w); piece++)
            fill_bytes(w->in + piece * w->size, w->size, w->rank, meant_for(w, (int)piece));
}

void work_open(struct work *w, const char *mode, size_t size, int rank, int ranks)
{
    *w = (struct work){.collective = named(mode), .rank = rank, .ranks = ranks, .size = size};
    if (is_sum(w) && size % sizeof(float) != 0)
        fail(BAD_PARAMETER, "mode %s adds up floats: --size %zu is no multiple of %zu", mode, size,
             sizeof(float));
    if (size > INT_MAX)
        fail(BAD_PARAMETER, "--size %zu: a collective operation takes at most %d bytes", size,
             INT_MAX);
    w->count = (int)(is_sum(w) ? size / sizeof(float) : size);
    must_fit(pieces_in(w) + pieces_out(w), size);
    w->in = test_buffer(pieces_in(w) * size + 1);
    w->out = test_buffer(pieces_out(w) * size + 1);
    fill(w);
}

void work_close(struct work *w)
{
    free(w->in);
    free(w->out);
}

int work_once(const struct work *w)
{
    const MPI_Comm all = MPI_COMM_WORLD;
    switch (w->collective) {
    case BARRIER:
        return MPI_Barrier(all);
    case BCAST:
        return MPI_Bcast(w->in, w->count, MPI_BYTE, ROOT, all);
    case REDUCE:
        return MPI_Reduce(w->in, w->out, w->count, MPI_FLOAT, MPI_SUM, ROOT, all);
    case ALLREDUCE:
        return MPI_Allreduce(w->in, w->out, w->count, MPI_FLOAT, MPI_SUM, all);
    case ALLGATHER:
        return MPI_Allgather(w->in, w->count, MPI_BYTE, w->out, w->count, MPI_BYTE, all);
    case ALLTOALL:
        return MPI_Alltoall(w->in, w->count, MPI_BYTE, w->out, w->count, MPI_BYTE, all);
    }
    abort(); /* there is no other */
}

void work_spoil(const struct work *w)
{
    if (w->collective == BCAST && w->rank != ROOT)
        spoil_bytes(w->in, w->size, ROOT, ROOT);
    else if (is_sum(w))
        memset(w->out, 0xFF, w->size); /* no number */
    else
        for (size_t piece = 0; piece < pieces_out(w); piece++)
            spoil_bytes(w->out + piece * w->size, w->size, (int)piece, meant_for(w, w->rank));
}

bool work_right(const struct work *w)
{
    if (w->collective == BCAST)
        return bytes_right(w->in, w->size, ROOT, ROOT);
    if (w->collective == REDUCE && w->rank != ROOT)
        return true;
    if (is_sum(w))
        return sums_right((const float *)w->out, (size_t)w->count, w->ranks);
    for (size_t piece = 0; piece < pieces_out(w); piece++)
        if (!bytes_right(w->out + piece * w->size, w->size, (int)piece, meant_for(w, w->rank)))
            return false;
    return true;
}

double work_bits(const struct work *w)
{
    bool per_rank = w->collective == ALLGATHER || w->collective == ALLTOALL;
    return w->collective == BARRIER ? 0 : 8.0 * (double)w->size * (per_rank ? w->ranks : 1);
}

/* As NCCL's tests count: what is a rank's own in the end need not travel; a sum that all get has
 * to travel twice, as parts and as a result. */
double work_link_bits(const struct work *w)
{
    double remote_share = (double)(w->ranks - 1) / w->ranks;
    switch (w->collective) {
    case ALLREDUCE:
        return 2 * remote_share * work_bits(w);
    case ALLGATHER:
    case ALLTOALL:
        return remote_share * work_bits(w);
    default:
        return work_bits(w);
    }
}
