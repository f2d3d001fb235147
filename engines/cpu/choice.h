/* Which loop the launch asks for, out of those that this CPU can run. */
#ifndef RAIL_CPU_CHOICE_H
#define RAIL_CPU_CHOICE_H

#include "../lib/engine.h"
#include "kernels.h"

#define VECTORS "auto|scalar|sse2|avx|avx2|avx512|neon"

/* The widest for auto. Fails with BAD_PARAMETER, naming those there are. */
const struct kernel *choose_kernel(const struct launch *launch);

/* Operations of this loop that one core's pipelines can do in a cycle; 0 where that isn't known. */
double pipeline_capacity(const struct kernel *kernel);

#endif
