/* The soakers: on each CPU that we may use a process that does nothing but count, and only while
 * nobody else wants the CPU. What they could not count is what everything else took. */
#ifndef RAIL_SOAK_SOAKERS_H
#define RAIL_SOAK_SOAKERS_H

#include "keeper.h"

#include <stddef.h>
#include <stdint.h>

/* What one CPU's soaker has come to. */
struct reading {
    uint64_t at;     /* now_ns() */
    uint64_t ran;    /* its CPU time, ns */
    uint64_t loops;  /* some 2 us each */
    uint64_t busy;   /* kernel_times' */
    uint64_t stolen; /* likewise */
};

/* Starts them on the CPUs that this process may use; they end with this process, however that
 * ends, and after that many seconds even if it stands still. Call it before any thread is started.
 * They let go of the descriptor held. */
void soakers_start(struct soakers *soakers, int lock, unsigned longest);

/* Ends them and waits until they are gone. */
void soakers_stop(struct soakers *soakers);

/* Fills one reading a CPU. Never waits for a soaker. */
void soakers_read(const struct soakers *soakers, struct reading *readings);

/* Memory for that many times a reading of each; or fail(OUT_OF_MEMORY). For free(). */
struct reading *readings_new(const struct soakers *soakers, size_t times);

/* Fails if soakers have ended or a CPU was taken offline. */
void soakers_check(const struct soakers *soakers);

#endif
