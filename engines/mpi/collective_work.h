/* The collective operations: what each rank hands over, where it goes, and whether it is right. */
#ifndef RAIL_MPI_COLLECTIVE_WORK_H
#define RAIL_MPI_COLLECTIVE_WORK_H

#include <stdbool.h>
#include <stddef.h>

enum collective { BARRIER, BCAST, REDUCE, ALLREDUCE, ALLGATHER, ALLTOALL };

/* One operation's memory on this rank. size: what each rank contributes, in bytes, as the OSU
 * benchmarks count it; with alltoall, to each of the ranks, itself included. */
struct work {
    enum collective collective;
    int rank, ranks;
    size_t size;
    int count; /* elements: bytes, or floats of a sum */
    unsigned char *in, *out;
};

/* Fails with BAD_PARAMETER or OUT_OF_MEMORY. */
void work_open(struct work *work, const char *mode, size_t size, int rank, int ranks);
void work_close(struct work *work);

/* Does it once; MPI's error code. */
int work_once(const struct work *work);

/* Makes everything wrong that should arrive, and says whether it is right; between the two, all
 * ranks call work_once. */
void work_spoil(const struct work *work);
bool work_right(const struct work *work);

/* Payload bits of one operation, for the algorithm bandwidth; and those of it that a rank's link
 * has to carry in one direction at the least, for the bus bandwidth. 0 for a barrier. */
double work_bits(const struct work *work);
double work_link_bits(const struct work *work);

#endif
