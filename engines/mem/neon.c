/* 128 bits on 64-bit ARM. No non-temporal stores: C has none there that all compilers have. */
#if defined(__aarch64__)

#include "word_register.h"

#include <arm_neon.h>

#define UNIT neon_unit
#define UNIT_NAME "neon"
#define TARGET
#define VECTOR float64x2_t
#define WIDTH 2
#define REGISTER "w"
#define SPREAD(x) vdupq_n_f64(x)
#define LOAD(p) vld1q_f64(p)
#define STORE(p, x) vst1q_f64(p, x)
#define MUL(a, b) vmulq_f64(a, b)
#define PLUS(a, b) vaddq_f64(a, b)

#include "kernels_body.h"

#endif
