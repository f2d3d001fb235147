/* The loops for all other architectures: plain C, one element a register, and NEON on arm64. After
 * each step the compiler must have the value in a register and may not know it: nothing is folded,
 * and no two chains become one vector. */
#ifndef __x86_64__

#include "kernels.h"

#include <math.h>
#include <string.h>
#ifdef __aarch64__
#include <sys/auxv.h>
#endif

#ifdef __aarch64__
#define REAL "w" /* the constraint for a floating-point register */
#else
#define REAL "f"
#endif
#define KEEP(x, where) __asm__ volatile("" : "+" where(x))

#if defined(__aarch64__) || defined(__FP_FAST_FMA)
#define REAL_FORM FUSED
#define STEP_DOUBLE(x, m, a) (x = fma(x, m, a), (void)0)
#define STEP_SINGLE(x, m, a) (x = fmaf(x, m, a), (void)0)
#else
#define REAL_FORM PAIR
#define STEP_DOUBLE(x, m, a) (x *= m, x += a, (void)0)
#define STEP_SINGLE(x, m, a) (x *= m, x += a, (void)0)
#endif
#define STEP_INTEGER(x, m, a) (x = x * m + a, (void)0)
#define STEP_INT8(x, m, a) (x += a, (void)(m))

/* clang-format off */
#define EACH(MAKE, ...) \
    MAKE(0, __VA_ARGS__) MAKE(1, __VA_ARGS__) MAKE(2, __VA_ARGS__) MAKE(3, __VA_ARGS__) \
    MAKE(4, __VA_ARGS__) MAKE(5, __VA_ARGS__) MAKE(6, __VA_ARGS__) MAKE(7, __VA_ARGS__) \
    MAKE(8, __VA_ARGS__) MAKE(9, __VA_ARGS__) MAKE(10, __VA_ARGS__) MAKE(11, __VA_ARGS__) \
    MORE(MAKE, __VA_ARGS__)
/* arm64 has the registers for four pipes with a latency of 4 cycles. */
#ifdef __aarch64__
#define CHAINS 16
#define MORE(MAKE, ...) \
    MAKE(12, __VA_ARGS__) MAKE(13, __VA_ARGS__) MAKE(14, __VA_ARGS__) MAKE(15, __VA_ARGS__)
#else
#define CHAINS 12
#define MORE(MAKE, ...)
#endif
#define TAKE(i, type) type x##i = x[i];
#define GIVE(i, type) x[i] = x##i;
#define DO(i, step, m, a, where) step(x##i, m, a); KEEP(x##i, where);

/* element: what is in memory; type: what computes with it, whose low bits are the element. */
#define LOOP(name, element, type, step, where)                                               \
    static __attribute__((noinline)) void name(struct registers *registers, uint64_t rounds) \
    {                                                                                        \
        element c[2 * STEPS], e[CHAINS];                                                     \
        type x[CHAINS];                                                                      \
        for (int i = 0; i < 2 * STEPS; i++)                                                  \
            memcpy(&c[i], registers->constants[i], sizeof c[i]);                             \
        for (int i = 0; i < CHAINS; i++) {                                                   \
            memcpy(&e[i], registers->chains[i], sizeof e[i]);                                \
            x[i] = e[i];                                                                     \
        }                                                                                    \
        const type m0 = c[0], a0 = c[1], m1 = c[2], a1 = c[3];                               \
        EACH(TAKE, type)                                                                     \
        for (; rounds; rounds--) {                                                           \
            EACH(DO, step, m0, a0, where)                                                    \
            EACH(DO, step, m1, a1, where)                                                    \
        }                                                                                    \
        EACH(GIVE, type)                                                                     \
        for (int i = 0; i < CHAINS; i++) {                                                   \
            e[i] = (element)x[i];                                                            \
            memcpy(registers->chains[i], &e[i], sizeof e[i]);                                \
        }                                                                                    \
    }

LOOP(scalar_double, double, double, STEP_DOUBLE, REAL)
LOOP(scalar_single, float, float, STEP_SINGLE, REAL)
LOOP(scalar_int16, uint16_t, uint32_t, STEP_INTEGER, "r")
LOOP(scalar_int8, uint8_t, uint32_t, STEP_INT8, "r")
LOOP(scalar_integer, uint64_t, uint64_t, STEP_INTEGER, "r")

#ifdef __aarch64__
typedef double doubles __attribute__((vector_size(16)));
typedef float singles __attribute__((vector_size(16)));
typedef uint16_t int16s __attribute__((vector_size(16)));
typedef uint8_t int8s __attribute__((vector_size(16)));
/* fmla adds to its destination: x + x * m. */
#define GROW_DOUBLES(x, m, a) __asm__ volatile("fmla %0.2d, %0.2d, %1.2d" : "+w"(x) : "w"(m)); (void)(a)
#define GROW_SINGLES(x, m, a) __asm__ volatile("fmla %0.4s, %0.4s, %1.4s" : "+w"(x) : "w"(m)); (void)(a)
#define PAIR_INT16(x, m, a) __asm__ volatile("mul %0.8h, %0.8h, %1.8h\n\tadd %0.8h, %0.8h, %2.8h" : "+w"(x) : "w"(m), "w"(a))
#define ADD_INT8(x, m, a) __asm__ volatile("add %0.16b, %0.16b, %1.16b" : "+w"(x) : "w"(a)); (void)(m)
/* Hardly a compiler's default has these two, so the assembler is told; that of an old one doesn't
 * know them. */
#if defined(__clang__) ? __clang_major__ >= 14 : __GNUC__ >= 10
#define HAS_SHORT_REALS
#define GROW_FP16(x, m, a) __asm__ volatile(".arch_extension fp16\n\tfmla %0.8h, %0.8h, %1.8h" : "+w"(x) : "w"(m)); (void)(a)
#define DOT_BF16(x, m, a) __asm__ volatile(".arch_extension bf16\n\tbfdot %0.4s, %1.8h, %2.8h" : "+w"(x) : "w"(m), "w"(a))
LOOP(neon_fp16, int16s, int16s, GROW_FP16, REAL)
LOOP(neon_bf16, int16s, int16s, DOT_BF16, REAL)
#endif
LOOP(neon_double, doubles, doubles, GROW_DOUBLES, REAL)
LOOP(neon_single, singles, singles, GROW_SINGLES, REAL)
LOOP(neon_int16, int16s, int16s, PAIR_INT16, REAL)
LOOP(neon_int8, int8s, int8s, ADD_INT8, REAL)
#endif
/* clang-format on */

static bool always(void)
{
    return true;
}

#ifdef HAS_SHORT_REALS
/* Bits of AT_HWCAP and AT_HWCAP2 (Linux, Documentation/arm64/elf_hwcaps.rst). */
static bool has_fp16(void)
{
    return getauxval(AT_HWCAP) >> 10 & 1;
}

static bool has_bf16(void)
{
    return getauxval(AT_HWCAP2) >> 14 & 1;
}
#endif

const struct kernel kernels[] = {
#ifdef __aarch64__
#ifdef HAS_SHORT_REALS
    {FP16, "neon", GROW, CHAINS, 16, has_fp16, neon_fp16},
    {BF16, "neon", DOT, CHAINS, 16, has_bf16, neon_bf16},
#endif
    {DOUBLE, "neon", GROW, CHAINS, 16, always, neon_double},
    {SINGLE, "neon", GROW, CHAINS, 16, always, neon_single},
    {INT16, "neon", PAIR, CHAINS, 16, always, neon_int16},
    {INT8, "neon", ADD, CHAINS, 16, always, neon_int8},
#endif
    {DOUBLE, "scalar", REAL_FORM, CHAINS, 8, always, scalar_double},
    {SINGLE, "scalar", REAL_FORM, CHAINS, 4, always, scalar_single},
    {INT16, "scalar", PAIR, CHAINS, 2, always, scalar_int16},
    {INT8, "scalar", ADD, CHAINS, 1, always, scalar_int8},
    {INTEGER, "scalar", PAIR, CHAINS, 8, always, scalar_integer},
};
const size_t kernel_count = sizeof kernels / sizeof *kernels;

void run_cycles(uint64_t count)
{
    uint64_t x = 1;
    for (uint64_t rounds = count / 16; rounds; rounds--) {
#define ONE x += x; KEEP(x, "r");
        ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE
#undef ONE
    }
}

#endif
