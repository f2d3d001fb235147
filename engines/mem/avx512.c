/* 512 bits: a whole cache line at a time. */
#if defined(__x86_64__)

#include "word_register.h"

#include <immintrin.h>

#define UNIT avx512_unit
#define UNIT_NAME "avx512"
#define TARGET __attribute__((target("avx512f")))
#define VECTOR __m512d
#define WIDTH 8
#define REGISTER "v"
#define SPREAD(x) _mm512_set1_pd(x)
#define LOAD(p) _mm512_loadu_pd(p)
#define STORE(p, x) _mm512_storeu_pd(p, x)
#define STREAM(p, x) _mm512_stream_pd(p, x)
#define FENCE _mm_sfence()
#define MUL(a, b) _mm512_mul_pd(a, b)
#define PLUS(a, b) _mm512_add_pd(a, b)

#include "kernels_body.h"

#endif
