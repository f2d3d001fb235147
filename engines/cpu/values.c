#include "values.h"

#include <math.h>
#include <string.h>

#define STARTS 4 /* values that the elements begin with, in turn */

/* One element of each precision, and how it takes a step of a form that the precision has. */
static double next_double(enum form form, double x, double m, double a)
{
    if (form == FUSED)
        return fma(x, m, a);
    if (form == GROW)
        return fma(x, m, x);
    x *= m; /* in statements of their own: no compiler may fuse these two */
    x += a;
    return x;
}

static float next_single(enum form form, float x, float m, float a)
{
    if (form == FUSED)
        return fmaf(x, m, a);
    if (form == GROW)
        return fmaf(x, m, x);
    x *= m;
    x += a;
    return x;
}

/* IEEE 754's binary16, of normal numbers: eleven bits with the leading one, exponents from -14. */
static double from_fp16(uint16_t bits)
{
    double magnitude = ldexp(1024 + (bits & 1023), (bits >> 10 & 31) - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

/* Rounded to the nearest, ties to even, as the mode of rint() is. */
static uint16_t to_fp16(double x)
{
    int exponent;
    double mantissa = rint(ldexp(frexp(fabs(x), &exponent), 11));
    /* An addition, as a mantissa of 2048 is the next exponent's 1024. */
    uint16_t bits = (uint16_t)(((unsigned)(exponent + 13) << 10) + (unsigned)mantissa);
    return signbit(x) ? bits | 0x8000 : bits;
}

/* The product and the sum of so few bits are exact in a double. */
static uint16_t next_fp16(enum form form, uint16_t x, uint16_t m, uint16_t a)
{
    double addend = from_fp16(form == GROW ? x : a);
    return to_fp16(from_fp16(x) * from_fp16(m) + addend);
}

static uint64_t next_integer(enum form form, uint64_t x, uint64_t m, uint64_t a)
{
    return form == ADD ? x + a : x * m + a;
}

static uint16_t next_int16(enum form form, uint16_t x, uint16_t m, uint16_t a)
{
    return (uint16_t)next_integer(form, x, m, a);
}

static uint8_t next_int8(enum form form, uint8_t x, uint8_t m, uint8_t a)
{
    return (uint8_t)next_integer(form, x, m, a);
}

/* The two steps' constants; with step 2 of a form the inverse of step 1. */
#define M0 1.2345678912345678
#define A0 0.1428571428571428
static const double fused[2 * STEPS] = {M0, A0, 1 / M0, -A0 / M0};
static const double grow[2 * STEPS] = {M0 - 1, 0, 1 / M0 - 1, 0};
static const double real_starts[STARTS] = {1.4142135623730951, 2.2360679774997898,
                                           -1.7320508075688772, -2.6457513110645907};
/* Odd factors that are 1 more than a multiple of 4: all values come in turn. */
static const uint64_t whole[2 * STEPS] = {0x5851f42d4c957f2d, 0x14057b7ef767814f,
                                          0x2545f4914f6cdd1d, 0x9e3779b97f4a7c15};
static const uint64_t whole_starts[STARTS] = {0x0123456789abcdef, 0xf0e1d2c3b4a59687,
                                              0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1};

/* make: from a start or constant that type; after so many rounds; as bytes. */
#define WALK(name, type, make, next, starts_from, constants_from)                                \
    static void name(enum form form, uint64_t rounds, unsigned char starts[][8],                 \
                     unsigned char constants[][8])                                               \
    {                                                                                            \
        type x[STARTS], c[2 * STEPS];                                                            \
        for (int i = 0; i < STARTS; i++)                                                         \
            x[i] = make((starts_from)[i]);                                                       \
        for (int i = 0; i < 2 * STEPS; i++)                                                      \
            c[i] = make((constants_from)[i]);                                                    \
        for (uint64_t round = 0; round < rounds; round++) {                                      \
            for (int i = 0; i < STARTS; i++)                                                     \
                x[i] = next(form, x[i], c[0], c[1]);                                             \
            for (int i = 0; i < STARTS; i++)                                                     \
                x[i] = next(form, x[i], c[2], c[3]);                                             \
        }                                                                                        \
        for (int i = 0; i < STARTS; i++)                                                         \
            memcpy(starts[i], &x[i], sizeof x[i]);                                               \
        for (int i = 0; i < 2 * STEPS; i++)                                                      \
            memcpy(constants[i], &c[i], sizeof c[i]);                                            \
    }

WALK(walk_double, double, (double), next_double, real_starts, form == GROW ? grow : fused)
WALK(walk_single, float, (float), next_single, real_starts, form == GROW ? grow : fused)
WALK(walk_integer, uint64_t, (uint64_t), next_integer, whole_starts, whole)
WALK(walk_int16, uint16_t, (uint16_t), next_int16, whole_starts, whole)
WALK(walk_int8, uint8_t, (uint8_t), next_int8, whole_starts, whole)
WALK(walk_fp16, uint16_t, to_fp16, next_fp16, real_starts, form == GROW ? grow : fused)

/* bfloat16 is the upper half of a single. */
static uint32_t bf16_pair(const double pair[2])
{
    uint32_t halves[2];
    for (int i = 0; i < 2; i++) {
        float single = (float)pair[i];
        memcpy(&halves[i], &single, sizeof single);
    }
    return halves[0] >> 16 | halves[1];
}

/* Makers round sums of two products in different ways. All these are multiples of 1 / 16384 that
 * singles hold up to 1024, so that none is rounded; a round adds 1 / 16384. */
static void walk_bf16(enum form form, uint64_t rounds, unsigned char starts[][8],
                      unsigned char constants[][8])
{
    static const double pairs[2 * STEPS][2] = {{1.125, 1.3359375}, {1.125, 1.6640625},
                                               {-1.1171875, -1.3359375}, {1.1328125, 1.6640625}};
    (void)form;
    for (int i = 0; i < STARTS; i++) {
        float x = (float)(rint(real_starts[i] * 16384) / 16384);
        for (uint64_t round = 0; round < rounds; round++)
            for (int step = 0; step < 2 * STEPS; step += 2)
                for (int factor = 0; factor < 2; factor++)
                    x += (float)(pairs[step][factor] * pairs[step + 1][factor]);
        memcpy(starts[i], &x, sizeof x);
    }
    for (int i = 0; i < 2 * STEPS; i++) {
        uint32_t pair = bf16_pair(pairs[i]);
        memcpy(constants[i], &pair, sizeof pair);
    }
}

void values_end(const struct kernel *kernel, uint64_t rounds, struct registers *registers)
{
    static void (*const walks[])(enum form, uint64_t, unsigned char[][8], unsigned char[][8]) = {
        [INT8] = walk_int8,     [INT16] = walk_int16,   [FP16] = walk_fp16,
        [BF16] = walk_bf16,     [SINGLE] = walk_single, [DOUBLE] = walk_double,
        [INTEGER] = walk_integer,
    };
    unsigned char values[STARTS][8], constants[2 * STEPS][8];
    size_t size = element_size(kernel->precision);
    walks[kernel->precision](kernel->form, rounds, values, constants);
    memset(registers, 0, sizeof *registers);
    for (size_t at = 0; at < (size_t)kernel->width; at += size) {
        for (size_t chain = 0; chain < (size_t)kernel->chains; chain++)
            memcpy(registers->chains[chain] + at, values[(chain + at / size) % STARTS], size);
        for (size_t i = 0; i < 2 * STEPS; i++)
            memcpy(registers->constants[i] + at, constants[i], size);
    }
}

void values_begin(const struct kernel *kernel, struct registers *registers)
{
    values_end(kernel, 0, registers);
}

bool values_equal(const struct kernel *kernel, const struct registers *a,
                  const struct registers *b)
{
    for (int chain = 0; chain < kernel->chains; chain++)
        if (memcmp(a->chains[chain], b->chains[chain], (size_t)kernel->width) != 0)
            return false;
    return true;
}
