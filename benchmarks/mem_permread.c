/* For benchmarks/mem.py: the access pattern of pmbw's PermReadSimpleLoop, written anew from its
 * description: all 8-byte words of an array hold pointers that form one random cycle, and a loop
 * of one load follows them.
 *     mem_permread BYTES STRIDE SECONDS     prints seconds a load */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    size_t stride = strtoull(argv[2], NULL, 10), slots = strtoull(argv[1], NULL, 10) / stride;
    char *array = aligned_alloc(4096, (slots * stride + 4095) / 4096 * 4096);
    uint32_t *visits = malloc(slots * sizeof *visits);
    if (!array || !visits || slots < 2)
        return 1;
    srand48(7);
    for (size_t i = 0; i < slots; i++)
        visits[i] = (uint32_t)i;
    for (size_t i = slots - 1; i > 0; i--) {
        size_t j = (size_t)(drand48() * (double)(i + 1));
        uint32_t visit = visits[i];
        visits[i] = visits[j];
        visits[j] = visit;
    }
    for (size_t i = 0; i < slots; i++)
        *(void **)(array + visits[i] * stride) = array + visits[(i + 1) % slots] * stride;
    void *at = array;
    size_t loads = 0;
    double seconds = strtod(argv[3], NULL), begin = now();
    while (now() < begin + seconds / 10) /* warm */
        for (int i = 0; i < 10000; i++)
            at = *(void **)at;
    begin = now();
    while (now() < begin + seconds) {
        for (size_t i = 0; i < 10000; i++) {
            at = *(void **)at;
            __asm__ volatile("" : "+r"(at));
        }
        loads += 10000;
    }
    printf("%.6e\n", (now() - begin) / (double)loads);
    return at == NULL;
}
