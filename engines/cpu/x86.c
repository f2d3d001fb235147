/* The loops for x86-64, in assembly so that every compiler makes the same of them: nothing is
 * folded, reordered or spilled. Accumulators are registers 0 to 11, constants 12 to 15: twelve
 * chains keep two multiply-add pipes with a latency of 4 to 6 cycles busy. */
#ifdef __x86_64__

#include "kernels.h"

#include <cpuid.h>
#include <string.h>

/* clang-format off */
#define EACH(MAKE, ...) \
    MAKE(0, __VA_ARGS__) MAKE(1, __VA_ARGS__) MAKE(2, __VA_ARGS__) MAKE(3, __VA_ARGS__) \
    MAKE(4, __VA_ARGS__) MAKE(5, __VA_ARGS__) MAKE(6, __VA_ARGS__) MAKE(7, __VA_ARGS__) \
    MAKE(8, __VA_ARGS__) MAKE(9, __VA_ARGS__) MAKE(10, __VA_ARGS__) MAKE(11, __VA_ARGS__)

/* r: xmm, ymm or zmm; m, a: the constants' registers. */
#define LOAD(i, r, move) move " 64*" #i "(%[chains]), %%" #r #i "\n\t"
#define STORE(i, r, move) move " %%" #r #i ", 64*" #i "(%[chains])\n\t"
#define CONSTANT(i, r, at, move) move " 64*" #at "(%[constants]), %%" #r #i "\n\t"
#define STEP_FUSED(i, r, m, a, mul, add) mul " %%" #r #a ", %%" #r #m ", %%" #r #i "\n\t"
#define STEP_PAIR(i, r, m, a, mul, add) \
    mul " %%" #r #m ", %%" #r #i ", %%" #r #i "\n\t" add " %%" #r #a ", %%" #r #i ", %%" #r #i "\n\t"
#define STEP_ADD(i, r, m, a, mul, add) add " %%" #r #a ", %%" #r #i ", %%" #r #i "\n\t"
/* SSE's instructions have two operands. */
#define STEP_PAIR2(i, r, m, a, mul, add) \
    mul " %%" #r #m ", %%" #r #i "\n\t" add " %%" #r #a ", %%" #r #i "\n\t"
#define STEP_ADD2(i, r, m, a, mul, add) add " %%" #r #a ", %%" #r #i "\n\t"

#define VECTOR_LOOP(name, features, r, move, STEP, mul, add, leave)                            \
    static __attribute__((noinline, target(features))) void name(struct registers *registers,   \
                                                                 uint64_t rounds)               \
    {                                                                                           \
        __asm__ volatile(EACH(LOAD, r, move)                                                    \
                         CONSTANT(12, r, 0, move) CONSTANT(13, r, 1, move)                      \
                         CONSTANT(14, r, 2, move) CONSTANT(15, r, 3, move)                      \
                         ".p2align 6\n1:\n\t"                                                   \
                         EACH(STEP, r, 12, 13, mul, add)                                        \
                         EACH(STEP, r, 14, 15, mul, add)                                        \
                         "decq %[rounds]\n\tjnz 1b\n\t"                                         \
                         EACH(STORE, r, move) leave                                             \
                         : [rounds] "+r"(rounds)                                                \
                         : [chains] "r"(registers->chains),                                     \
                           [constants] "r"(registers->constants)                                \
                         : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",      \
                           "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",  \
                           "xmm14", "xmm15");                                                   \
    }

#define AVX512 "avx512f,avx512bw"
#define CLEAN "vzeroupper\n\t"
VECTOR_LOOP(avx512_double, AVX512, zmm, "vmovupd", STEP_FUSED, "vfmadd213pd", "", CLEAN)
VECTOR_LOOP(avx512_single, AVX512, zmm, "vmovups", STEP_FUSED, "vfmadd213ps", "", CLEAN)
VECTOR_LOOP(avx512_int16, AVX512, zmm, "vmovups", STEP_PAIR, "vpmullw", "vpaddw", CLEAN)
VECTOR_LOOP(avx512_int8, AVX512, zmm, "vmovups", STEP_ADD, "", "vpaddb", CLEAN)
/* Assemblers of such compilers know the instructions. */
#if defined(__clang__) ? __clang_major__ >= 14 : __GNUC__ >= 12
#define HAS_SHORT_REALS
VECTOR_LOOP(avx512_fp16, AVX512, zmm, "vmovups", STEP_FUSED, "vfmadd213ph", "", CLEAN)
VECTOR_LOOP(avx512_bf16, AVX512, zmm, "vmovups", STEP_FUSED, "vdpbf16ps", "", CLEAN)
#endif
VECTOR_LOOP(avx2_double, "avx2,fma", ymm, "vmovupd", STEP_FUSED, "vfmadd213pd", "", CLEAN)
VECTOR_LOOP(avx2_single, "avx2,fma", ymm, "vmovups", STEP_FUSED, "vfmadd213ps", "", CLEAN)
VECTOR_LOOP(avx2_int16, "avx2", ymm, "vmovups", STEP_PAIR, "vpmullw", "vpaddw", CLEAN)
VECTOR_LOOP(avx2_int8, "avx2", ymm, "vmovups", STEP_ADD, "", "vpaddb", CLEAN)
VECTOR_LOOP(avx_double, "avx", ymm, "vmovupd", STEP_PAIR, "vmulpd", "vaddpd", CLEAN)
VECTOR_LOOP(avx_single, "avx", ymm, "vmovups", STEP_PAIR, "vmulps", "vaddps", CLEAN)
VECTOR_LOOP(sse2_double, "sse2", xmm, "movupd", STEP_PAIR2, "mulpd", "addpd", "")
VECTOR_LOOP(sse2_single, "sse2", xmm, "movups", STEP_PAIR2, "mulps", "addps", "")
VECTOR_LOOP(sse2_int16, "sse2", xmm, "movups", STEP_PAIR2, "pmullw", "paddw", "")
VECTOR_LOOP(sse2_int8, "sse2", xmm, "movups", STEP_ADD2, "", "paddb", "")
VECTOR_LOOP(scalar_double, "sse2", xmm, "movsd", STEP_PAIR2, "mulsd", "addsd", "")
VECTOR_LOOP(scalar_single, "sse2", xmm, "movss", STEP_PAIR2, "mulss", "addss", "")

/* There are fewer registers for plain integers, and their multiplier has one pipe with a latency
 * of 3 cycles: six chains. w: which part of a register. */
#define INTEGER_CHAINS 6
#define EACH6(MAKE, ...) \
    MAKE(0, __VA_ARGS__) MAKE(1, __VA_ARGS__) MAKE(2, __VA_ARGS__) MAKE(3, __VA_ARGS__) \
    MAKE(4, __VA_ARGS__) MAKE(5, __VA_ARGS__)
#define STEP_INTEGER_PAIR(i, w, m, a) \
    "imul %" #w "[" #m "], %" #w "[x" #i "]\n\tadd %" #w "[" #a "], %" #w "[x" #i "]\n\t"
#define STEP_INTEGER_ADD(i, w, m, a) "add %" #w "[" #a "], %" #w "[x" #i "]\n\t"

#define INTEGER_LOOP(name, w, STEP, INPUTS)                                                     \
    static __attribute__((noinline)) void name(struct registers *registers, uint64_t rounds)    \
    {                                                                                           \
        uint64_t x[INTEGER_CHAINS], c[2 * STEPS];                                               \
        for (int i = 0; i < INTEGER_CHAINS; i++)                                                \
            memcpy(&x[i], registers->chains[i], sizeof x[i]);                                   \
        for (int i = 0; i < 2 * STEPS; i++)                                                     \
            memcpy(&c[i], registers->constants[i], sizeof c[i]);                                \
        uint64_t x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3], x4 = x[4], x5 = x[5];              \
        __asm__ volatile(".p2align 6\n1:\n\t" EACH6(STEP, w, m0, a0) EACH6(STEP, w, m1, a1)     \
                         "decq %[rounds]\n\tjnz 1b\n\t"                                         \
                         : [rounds] "+r"(rounds), [x0] "+r"(x0), [x1] "+r"(x1),                 \
                           [x2] "+r"(x2), [x3] "+r"(x3), [x4] "+r"(x4), [x5] "+r"(x5)           \
                         : INPUTS                                                               \
                         : "cc");                                                               \
        uint64_t end[INTEGER_CHAINS] = {x0, x1, x2, x3, x4, x5};                                \
        for (int i = 0; i < INTEGER_CHAINS; i++)                                                \
            memcpy(registers->chains[i], &end[i], sizeof end[i]);                               \
    }

#define ADDENDS [a0] "r"(c[1]), [a1] "r"(c[3])
#define ALL_CONSTANTS [m0] "r"(c[0]), [m1] "r"(c[2]), [a0] "r"(c[1]), [a1] "r"(c[3])
INTEGER_LOOP(scalar_integer, q, STEP_INTEGER_PAIR, ALL_CONSTANTS)
INTEGER_LOOP(scalar_int16, w, STEP_INTEGER_PAIR, ALL_CONSTANTS)
INTEGER_LOOP(scalar_int8, b, STEP_INTEGER_ADD, ADDENDS)

/* Also whether the operating system keeps these registers, which is what counts. */
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}

#ifdef HAS_SHORT_REALS
/* By CPUID itself: not every compiler has names for these (Intel SDM, volume 2, CPUID, leaf 7). */
static bool has_avx512_fp16(void)
{
    unsigned a, b, c, d;
    return has_avx512() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 23 & 1);
}

static bool has_avx512_bf16(void)
{
    unsigned a, b, c, d;
    return has_avx512() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 5 & 1);
}
#endif

static bool has_avx2_fma(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}

static bool has_avx(void)
{
    return __builtin_cpu_supports("avx") != 0;
}

static bool always(void)
{
    return true;
}

const struct kernel kernels[] = {
    {DOUBLE, "avx512", FUSED, 12, 64, has_avx512, avx512_double},
    {DOUBLE, "avx2", FUSED, 12, 32, has_avx2_fma, avx2_double},
    {DOUBLE, "avx", PAIR, 12, 32, has_avx, avx_double},
    {DOUBLE, "sse2", PAIR, 12, 16, always, sse2_double},
    {DOUBLE, "scalar", PAIR, 12, 8, always, scalar_double},
    {SINGLE, "avx512", FUSED, 12, 64, has_avx512, avx512_single},
    {SINGLE, "avx2", FUSED, 12, 32, has_avx2_fma, avx2_single},
    {SINGLE, "avx", PAIR, 12, 32, has_avx, avx_single},
    {SINGLE, "sse2", PAIR, 12, 16, always, sse2_single},
    {SINGLE, "scalar", PAIR, 12, 4, always, scalar_single},
#ifdef HAS_SHORT_REALS
    {FP16, "avx512", FUSED, 12, 64, has_avx512_fp16, avx512_fp16},
    {BF16, "avx512", DOT, 12, 64, has_avx512_bf16, avx512_bf16},
#endif
    {INT16, "avx512", PAIR, 12, 64, has_avx512, avx512_int16},
    {INT16, "avx2", PAIR, 12, 32, has_avx2, avx2_int16},
    {INT16, "sse2", PAIR, 12, 16, always, sse2_int16},
    {INT16, "scalar", PAIR, INTEGER_CHAINS, 2, always, scalar_int16},
    {INT8, "avx512", ADD, 12, 64, has_avx512, avx512_int8},
    {INT8, "avx2", ADD, 12, 32, has_avx2, avx2_int8},
    {INT8, "sse2", ADD, 12, 16, always, sse2_int8},
    {INT8, "scalar", ADD, INTEGER_CHAINS, 1, always, scalar_int8},
    {INTEGER, "scalar", PAIR, INTEGER_CHAINS, 8, always, scalar_integer},
};
const size_t kernel_count = sizeof kernels / sizeof *kernels;
/* clang-format on */

/* A register added to a register: constants may be added for nothing while renaming. */
void run_cycles(uint64_t count)
{
    uint64_t x = 1, rounds = count / 16;
    __asm__ volatile(".p2align 6\n1:\n\t"
                     "add %[x], %[x]\n\tadd %[x], %[x]\n\tadd %[x], %[x]\n\tadd %[x], %[x]\n\t"
                     "add %[x], %[x]\n\tadd %[x], %[x]\n\tadd %[x], %[x]\n\tadd %[x], %[x]\n\t"
                     "add %[x], %[x]\n\tadd %[x], %[x]\n\tadd %[x], %[x]\n\tadd %[x], %[x]\n\t"
                     "add %[x], %[x]\n\tadd %[x], %[x]\n\tadd %[x], %[x]\n\tadd %[x], %[x]\n\t"
                     "decq %[rounds]\n\tjnz 1b\n\t"
                     : [x] "+r"(x), [rounds] "+r"(rounds)
                     :
                     : "cc");
}

#endif
