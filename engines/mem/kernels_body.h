/* The kernels of one vector unit. Whoever includes this defines
 *   UNIT, UNIT_NAME   its struct vector_unit, and its name as text
 *   TARGET            the attribute that lets a function use its instructions
 *   VECTOR, WIDTH     its type and the words in one
 *   SPREAD LOAD STORE MUL PLUS   the same word everywhere, from and to memory, and arithmetic
 *   STREAM, FENCE     non-temporal store and what makes such stores visible; left out: none
 *   REGISTER          the assembler constraint of its registers */
#include "kernels.h"

#define UNROLL 8

/* Loads must happen though nobody uses them; stores must stay what they are, and not become a call
 * of memcpy. Neither line is an instruction. */
#define USE(x) __asm__ volatile("" : : REGISTER(x))
#define OPAQUE(x) __asm__("" : "+" REGISTER(x))
#define WORD_USE(x) __asm__ volatile("" : : WORD_REGISTER(x))
#define WORD_OPAQUE(x) __asm__("" : "+" WORD_REGISTER(x))

#define KERNEL(name, vector_step, word_step, end)                                                 \
    TARGET static void name(struct arrays *arrays, size_t first, size_t count, size_t passes)     \
    {                                                                                             \
        double *to = arrays->to + first;                                                          \
        const double *from = arrays->from + first, *other = arrays->other + first;                \
        const VECTOR factor = SPREAD(FACTOR), step = SPREAD(STEP);                                \
        (void)from, (void)other, (void)factor, (void)step;                                        \
        for (; passes > 0; passes--) {                                                            \
            size_t i = 0;                                                                         \
            for (; i + UNROLL * WIDTH <= count; i += UNROLL * WIDTH) {                            \
                _Pragma("GCC unroll 8") for (size_t u = 0; u < UNROLL; u++)                       \
                {                                                                                 \
                    const size_t k = i + u * WIDTH;                                               \
                    vector_step                                                                   \
                }                                                                                 \
            }                                                                                     \
            for (; i + WIDTH <= count; i += WIDTH) {                                              \
                const size_t k = i;                                                               \
                vector_step                                                                       \
            }                                                                                     \
            for (size_t k = i; k < count; k++) {                                                  \
                word_step                                                                         \
            }                                                                                     \
            __asm__ volatile("" : : : "memory");                                                  \
        }                                                                                         \
        end                                                                                       \
    }

#define PUT(store, value)                                                                         \
    VECTOR x = value;                                                                             \
    OPAQUE(x);                                                                                    \
    store(to + k, x);

#define PUT_WORD(value)                                                                           \
    double x = value;                                                                             \
    WORD_OPAQUE(x);                                                                               \
    to[k] = x;

#define WRITING(prefix, store, end)                                                               \
    KERNEL(prefix##write, PUT(store, factor), PUT_WORD(FACTOR), end)                              \
    KERNEL(prefix##copy, PUT(store, LOAD(from + k)), PUT_WORD(from[k]), end)                      \
    KERNEL(prefix##scale, PUT(store, MUL(factor, LOAD(from + k))), PUT_WORD(FACTOR * from[k]),    \
           end)                                                                                   \
    KERNEL(prefix##add, PUT(store, PLUS(LOAD(from + k), LOAD(other + k))),                        \
           PUT_WORD(from[k] + other[k]), end)                                                     \
    KERNEL(prefix##triad, PUT(store, PLUS(LOAD(from + k), MUL(factor, LOAD(other + k)))),         \
           PUT_WORD(from[k] + FACTOR * other[k]), end)

WRITING(plain_, STORE, )
KERNEL(plain_read, VECTOR x = LOAD(to + k); USE(x);, double x = to[k]; WORD_USE(x);, )
KERNEL(plain_sequential, PUT(STORE, PLUS(LOAD(to + k), step)), PUT_WORD(to[k] + STEP), )

/* One slot, read and written back. */
TARGET static inline __attribute__((always_inline)) void visit(double *to, size_t words)
{
    const VECTOR step = SPREAD(STEP);
    size_t k = 0;
    for (; k + WIDTH <= words; k += WIDTH) {
        PUT(STORE, PLUS(LOAD(to + k), step))
    }
    for (; k < words; k++) {
        PUT_WORD(to[k] + STEP)
    }
}

/* The order stands in memory: the loop waits for no random number and for no other visit. */
TARGET static inline __attribute__((always_inline)) void
visit_all(const struct arrays *arrays, size_t first, size_t count, size_t words)
{
    for (size_t i = first; i < first + count; i++)
        visit(arrays->to + (size_t)arrays->order[i] * words, words);
}

TARGET static void plain_random(struct arrays *arrays, size_t first, size_t count, size_t passes)
{
    for (; passes > 0; passes--) {
        if (arrays->slot == 1)
            visit_all(arrays, first, count, 1);
        else if (arrays->slot == 8)
            visit_all(arrays, first, count, 8);
        else
            visit_all(arrays, first, count, arrays->slot);
        __asm__ volatile("" : : : "memory");
    }
}

#ifdef STREAM
WRITING(nontemporal_, STREAM, FENCE;)
#endif

const struct vector_unit UNIT = {
    .name = UNIT_NAME,
    .plain = {[READ] = plain_read,
              [WRITE] = plain_write,
              [COPY] = plain_copy,
              [SCALE] = plain_scale,
              [ADD] = plain_add,
              [TRIAD] = plain_triad,
              [SEQUENTIAL] = plain_sequential,
              [RANDOM] = plain_random},
#ifdef STREAM
    .nontemporal = {[WRITE] = nontemporal_write,
                    [COPY] = nontemporal_copy,
                    [SCALE] = nontemporal_scale,
                    [ADD] = nontemporal_add,
                    [TRIAD] = nontemporal_triad},
#endif
};
