/* 256 bits. */
#if defined(__x86_64__)

#include "word_register.h"

#include <immintrin.h>

#define UNIT avx2_unit
#define UNIT_NAME "avx2"
#define TARGET __attribute__((target("avx2")))
#define VECTOR __m256d
#define WIDTH 4
#define REGISTER "x"
#define SPREAD(x) _mm256_set1_pd(x)
#define LOAD(p) _mm256_loadu_pd(p)
#define STORE(p, x) _mm256_storeu_pd(p, x)
#define STREAM(p, x) _mm256_stream_pd(p, x)
#define FENCE _mm_sfence()
#define MUL(a, b) _mm256_mul_pd(a, b)
#define PLUS(a, b) _mm256_add_pd(a, b)

#include "kernels_body.h"

#endif
