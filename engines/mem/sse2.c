/* 128 bits: what every x86-64 has. */
#if defined(__x86_64__)

#include "word_register.h"

#include <emmintrin.h>

#define UNIT sse2_unit
#define UNIT_NAME "sse2"
#define TARGET
#define VECTOR __m128d
#define WIDTH 2
#define REGISTER "x"
#define SPREAD(x) _mm_set1_pd(x)
#define LOAD(p) _mm_loadu_pd(p)
#define STORE(p, x) _mm_storeu_pd(p, x)
#define STREAM(p, x) _mm_stream_pd(p, x)
#define FENCE _mm_sfence()
#define MUL(a, b) _mm_mul_pd(a, b)
#define PLUS(a, b) _mm_add_pd(a, b)

#include "kernels_body.h"

#endif
