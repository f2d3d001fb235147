/* The hot loops: chains of multiply-add that never leave the registers, one loop for each precision
 * and vector unit. */
#ifndef RAIL_CPU_KERNELS_H
#define RAIL_CPU_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_CHAINS 16     /* a loop's chains at most: each has an accumulator register */
#define REGISTER_BYTES 64 /* the widest register */
#define STEPS 2           /* of each chain in a round, the second with constants of its own */

/* How a step makes the next x out of m and a, its constants. */
enum form {
    FUSED, /* x * m + a, rounded once */
    PAIR,  /* x * m, then + a */
    GROW,  /* x + x * m, rounded once */
    ADD,   /* x + a */
    DOT,   /* x + m * a + m' * a', of 16-bit factors in pairs, into 32 bits */
};

enum precision { INT8, INT16, FP16, BF16, SINGLE, DOUBLE, INTEGER };

/* What a loop works on. Of each register only the kernel's width counts. */
struct registers {
    _Alignas(64) unsigned char chains[MAX_CHAINS][REGISTER_BYTES];
    unsigned char constants[2 * STEPS][REGISTER_BYTES]; /* m and a of each step */
};

struct kernel {
    enum precision precision;
    const char *vector; /* the unit's name */
    enum form form;
    int chains, width; /* width: bytes of a register that are worked on */
    bool (*supported)(void); /* on this CPU, and allowed by this kernel */
    void (*run)(struct registers *registers, uint64_t rounds); /* rounds: not 0 */
};

/* Of this architecture, for each precision the widest first. */
extern const struct kernel kernels[];
extern const size_t kernel_count;

/* Bytes of an element; of bf16 those of a sum, to which a pair of factors belongs. */
size_t element_size(enum precision precision);
const char *precision_name(enum precision precision);

/* Operations of one round: each multiplication and each addition of an element is one. */
double round_operations(const struct kernel *kernel);

/* That count additions, each waiting for the one before it, one a cycle. */
void run_cycles(uint64_t count);

#endif
