/* The loops that move data, one set for each vector unit; the widest that the CPU has is chosen at
 * run time. All arrays are of 8-byte words (double, like STREAM's). */
#ifndef RAIL_MEM_KERNELS_H
#define RAIL_MEM_KERNELS_H

#include "mode.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORD sizeof(double)
#define FACTOR 3.0 /* of scale and triad */
#define STEP 1.0   /* what sequential and random add to each word */

/* What one thread works on. */
struct arrays {
    double *to; /* written; sequential, random: read and written back; read: read */
    const double *from, *other;
    const uint32_t *order; /* random: the slots in the order of their visits */
    size_t slot;           /* random: words of a slot */
    void *at;              /* latency: the pointer to follow next */
};

/* Works through `count` units of the arrays from `first` on, `passes` times. A unit is a word;
 * in mode random a slot, in mode latency a load. */
typedef void kernel(struct arrays *arrays, size_t first, size_t count, size_t passes);

struct vector_unit {
    const char *name;
    kernel *plain[MODES];
    kernel *nontemporal[MODES]; /* NULL: there is none */
};

/* The unit of that name, "auto": the widest there is; fails with BAD_PARAMETER. */
const struct vector_unit *vector_unit(const char *name);

extern const struct vector_unit scalar_unit;
#if defined(__x86_64__)
extern const struct vector_unit sse2_unit, avx2_unit, avx512_unit;
#elif defined(__aarch64__)
extern const struct vector_unit neon_unit;
#endif

#endif
