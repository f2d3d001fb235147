#include "collective_work.h"

#include "collective_load.h"

#include "../lib/failure.h"
#include "../lib/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define ROOT 0
#define ALL MPI_COMM_WORLD

/* What a rank hands over or gets: bytes, in pieces for or from each rank, or floats and sums of
 * them, all or a share. */
enum amount { NOTHING, PIECE, PIECES, SUMMANDS, SHARE };

struct operation {
    const char *name;
    enum amount in, out;
    bool in_of_root, out_of_root; /* only the root hands over, or gets, anything */
    bool in_place;                /* what the root handed over is, on the others, what they get */
    bool addressed;               /* a piece is for one rank, not for whoever gets it */
    int link_shares; /* how often the remote ranks' share of its payload passes a link; 0: all of
                        the payload does, once */
    int (*once)(const struct work *);
    int (*start)(const struct work *, MPI_Request *);
};

/* An operation in both forms, whose arguments are the same; w: the work. */
#define OPERATION(name, blocking, nonblocking, ...)                                               \
    static int name(const struct work *w)                                                         \
    {                                                                                             \
        (void)w;                                                                                  \
        return blocking(__VA_ARGS__);                                                             \
    }                                                                                             \
    static int i##name(const struct work *w, MPI_Request *request)                                \
    {                                                                                             \
        (void)w;                                                                                  \
        return nonblocking(__VA_ARGS__, request);                                                 \
    }

#define IN w->in, w->count, MPI_BYTE
#define OUT w->out, w->count, MPI_BYTE

OPERATION(barrier, MPI_Barrier, MPI_Ibarrier, ALL)
OPERATION(bcast, MPI_Bcast, MPI_Ibcast, IN, ROOT, ALL)
OPERATION(reduce, MPI_Reduce, MPI_Ireduce, w->in, w->out, w->count, MPI_FLOAT, MPI_SUM, ROOT, ALL)
OPERATION(allreduce, MPI_Allreduce, MPI_Iallreduce, w->in, w->out, w->count, MPI_FLOAT, MPI_SUM,
          ALL)
OPERATION(reduce_scatter, MPI_Reduce_scatter, MPI_Ireduce_scatter, w->in, w->out, w->shares,
          MPI_FLOAT, MPI_SUM, ALL)
OPERATION(scatter, MPI_Scatter, MPI_Iscatter, IN, OUT, ROOT, ALL)
OPERATION(gather, MPI_Gather, MPI_Igather, IN, OUT, ROOT, ALL)
OPERATION(allgather, MPI_Allgather, MPI_Iallgather, IN, OUT, ALL)
OPERATION(alltoall, MPI_Alltoall, MPI_Ialltoall, IN, OUT, ALL)

#define BOTH_FORMS(name) .once = name, .start = i##name

/* Link shares as NCCL's tests count: what is a rank's own in the end need not travel; a sum that
 * all get has to travel twice, as parts and as a result. */
static const struct operation operations[] = {
    {"barrier", NOTHING, NOTHING, BOTH_FORMS(barrier)},
    {"bcast", PIECE, NOTHING, .in_place = true, BOTH_FORMS(bcast)},
    {"reduce", SUMMANDS, SUMMANDS, .out_of_root = true, BOTH_FORMS(reduce)},
    {"allreduce", SUMMANDS, SUMMANDS, .link_shares = 2, BOTH_FORMS(allreduce)},
    {"reduce_scatter", SUMMANDS, SHARE, .link_shares = 1, BOTH_FORMS(reduce_scatter)},
    {"scatter", PIECES, PIECE, .in_of_root = true, .addressed = true, .link_shares = 1,
     BOTH_FORMS(scatter)},
    {"gather", PIECE, PIECES, .out_of_root = true, .link_shares = 1, BOTH_FORMS(gather)},
    {"allgather", PIECE, PIECES, .link_shares = 1, BOTH_FORMS(allgather)},
    {"alltoall", PIECES, PIECES, .addressed = true, .link_shares = 1, BOTH_FORMS(alltoall)},
};

static const struct operation *named(const char *mode)
{
    const struct operation *operation = operations;
    while (strcmp(operation->name, mode) != 0)
        operation++; /* the mode is one of them: who calls has looked */
    return operation;
}

static bool is_sum(const struct work *w)
{
    return w->operation->in == SUMMANDS;
}

/* Pieces of size that this rank hands over, and that it gets in other memory than those. */
static size_t pieces(const struct work *w, enum amount amount, bool of_root)
{
    if (amount == NOTHING || (of_root && w->rank != ROOT))
        return 0;
    return amount == PIECES ? (size_t)w->ranks : 1;
}

static size_t pieces_in(const struct work *w)
{
    return pieces(w, w->operation->in, w->operation->in_of_root);
}

static size_t pieces_out(const struct work *w)
{
    return pieces(w, w->operation->out, w->operation->out_of_root);
}

static int meant_for(const struct work *w, int rank)
{
    return w->operation->addressed ? rank : ROOT;
}

/* Whose piece stands there among those that this rank gets. */
static int sent_by(const struct work *w, size_t piece)
{
    return w->operation->out == PIECES ? (int)piece : ROOT;
}

static void fill(const struct work *w)
{
    if (is_sum(w))
        fill_summands((float *)w->in, (size_t)w->count, w->rank);
    else
        for (size_t piece = 0; piece < pieces_in(w); piece++)
            fill_bytes(w->in + piece * w->size, w->size, w->rank, meant_for(w, (int)piece));
}

/* As even as can be, the first ones getting what is over. */
static int *even_shares(int count, int ranks)
{
    int *shares = malloc((size_t)ranks * sizeof *shares);
    if (shares == NULL)
        fail(OUT_OF_MEMORY, "no memory for %d ranks' shares", ranks);
    for (int rank = 0; rank < ranks; rank++)
        shares[rank] = count / ranks + (rank < count % ranks);
    return shares;
}

void work_open(struct work *w, const char *mode, size_t size, int rank, int ranks)
{
    *w = (struct work){.operation = named(mode), .rank = rank, .ranks = ranks, .size = size};
    if (is_sum(w) && size % sizeof(float) != 0)
        fail(BAD_PARAMETER, "mode %s adds up floats: --size %zu is no multiple of %zu", mode, size,
             sizeof(float));
    if (size > INT_MAX)
        fail(BAD_PARAMETER, "--size %zu: a collective operation takes at most %d bytes", size,
             INT_MAX);
    w->count = (int)(is_sum(w) ? size / sizeof(float) : size);
    w->shares = even_shares(w->count, ranks);
    must_fit(pieces_in(w) + pieces_out(w), size);
    w->in = test_buffer(pieces_in(w) * size + 1);
    w->out = test_buffer(pieces_out(w) * size + 1);
    fill(w);
}

void work_close(struct work *w)
{
    free(w->shares);
    free(w->in);
    free(w->out);
}

void work_once(const struct work *w)
{
    w->operation->once(w);
}

void work_start(const struct work *w, MPI_Request *request)
{
    w->operation->start(w, request);
}

void work_spoil(const struct work *w)
{
    if (w->operation->in_place && w->rank != ROOT)
        spoil_bytes(w->in, w->size, ROOT, ROOT);
    else if (is_sum(w))
        memset(w->out, 0xFF, pieces_out(w) * w->size); /* no number */
    else
        for (size_t piece = 0; piece < pieces_out(w); piece++)
            spoil_bytes(w->out + piece * w->size, w->size, sent_by(w, piece),
                        meant_for(w, w->rank));
}

static bool sums_of_work_right(const struct work *w)
{
    const float *sums = (const float *)w->out;
    size_t first = 0;
    if (w->operation->out == SUMMANDS)
        return pieces_out(w) == 0 || sums_right(sums, 0, (size_t)w->count, w->ranks);
    for (int rank = 0; rank < w->rank; rank++)
        first += (size_t)w->shares[rank];
    return sums_right(sums, first, (size_t)w->shares[w->rank], w->ranks);
}

bool work_right(const struct work *w)
{
    if (w->operation->in_place)
        return bytes_right(w->in, w->size, ROOT, ROOT);
    if (is_sum(w))
        return sums_of_work_right(w);
    for (size_t piece = 0; piece < pieces_out(w); piece++)
        if (!bytes_right(w->out + piece * w->size, w->size, sent_by(w, piece),
                         meant_for(w, w->rank)))
            return false;
    return true;
}

double work_bits(const struct work *w)
{
    const struct operation *operation = w->operation;
    if (operation->in == NOTHING)
        return 0;
    bool per_rank = operation->in == PIECES || operation->out == PIECES;
    return 8.0 * (double)w->size * (per_rank ? w->ranks : 1);
}

double work_link_bits(const struct work *w)
{
    double remote_share = (double)(w->ranks - 1) / w->ranks;
    int shares = w->operation->link_shares;
    return work_bits(w) * (shares ? shares * remote_share : 1);
}
