/* What the loops compute with, and what has to come out. */
#ifndef RAIL_CPU_VALUES_H
#define RAIL_CPU_VALUES_H

#include "kernels.h"

/* Fills the registers with start values and constants. The second step undoes the first but for
 * rounding, so that floating-point values stay near where they began, with all their bits in use:
 * never denormal, infinite or zero. Integers wrap around. */
void values_begin(const struct kernel *kernel, struct registers *registers);

/* Fills in what the chains hold after so many rounds: computed step by step, in plain C. */
void values_end(const struct kernel *kernel, uint64_t rounds, struct registers *registers);

/* True if the chains hold the same. */
bool values_equal(const struct kernel *kernel, const struct registers *a,
                  const struct registers *b);

#endif
