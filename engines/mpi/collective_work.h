/* The collective operations: what each rank hands over, where it goes, and whether it is right. */
#ifndef RAIL_MPI_COLLECTIVE_WORK_H
#define RAIL_MPI_COLLECTIVE_WORK_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* A row of the table of operations. */
struct operation;

/* One operation's memory on this rank. size: bytes as the OSU benchmarks count them: what each rank
 * contributes; with alltoall and scatter, what goes to each of the ranks, the sender included. */
struct work {
    const struct operation *operation;
    int rank, ranks;
    size_t size;
    int count; /* elements: bytes, or floats of a sum */
    int *shares; /* of a sum that is shared out, the floats that each rank gets */
    unsigned char *in, *out;
};

/* Fails with BAD_PARAMETER or OUT_OF_MEMORY. */
void work_open(struct work *work, const char *mode, size_t size, int rank, int ranks);
void work_close(struct work *work);

/* Does it once. */
void work_once(const struct work *work);

/* Begins it without waiting for its end, which is the request's. */
void work_start(const struct work *work, MPI_Request *request);

/* Makes everything wrong that should arrive, and says whether it is right; between the two, all
 * ranks do the work once. */
void work_spoil(const struct work *work);
bool work_right(const struct work *work);

/* Payload bits of one operation, for the algorithm bandwidth; and those of it that a rank's link
 * has to carry in one direction at the least, for the bus bandwidth. 0 for a barrier. */
double work_bits(const struct work *work);
double work_link_bits(const struct work *work);

#endif
