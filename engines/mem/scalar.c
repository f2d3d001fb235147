/* One word at a time: what any CPU has. */
#include "word_register.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#include <string.h>

static inline void stream_word(double *to, double x)
{
    long long bits;
    memcpy(&bits, &x, sizeof bits);
    _mm_stream_si64((long long *)(void *)to, bits);
}

#define STREAM(p, x) stream_word(p, x)
#define FENCE _mm_sfence()
#endif

#define UNIT scalar_unit
#define UNIT_NAME "scalar"
#define TARGET
#define VECTOR double
#define WIDTH 1
#define REGISTER WORD_REGISTER
#define SPREAD(x) (x)
#define LOAD(p) (*(p))
#define STORE(p, x) (*(p) = (x))
#define MUL(a, b) ((a) * (b))
#define PLUS(a, b) ((a) + (b))

#include "kernels_body.h"
