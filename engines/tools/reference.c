/* rail-reference: rates, loads and counters that `railgauge calibrate` holds the engines against. It
 * has no code in common with them, but their clock, CLOCK_MONOTONIC_RAW.
 *   rail-reference counters INTERFACE              says `ready`, and once standard input has a line
 *                                                  or ends, what the kernel counted until then
 * Each of the other runs adds a line to FILE:
 *   rail-reference integer FILE CPU SECONDS        operations, CPU seconds, seconds
 *   rail-reference read FILE CPU SECONDS BYTES     bytes, CPU seconds, seconds
 *   rail-reference burn FILE SHARE SECONDS PID     CPU seconds, seconds, idle seconds of all CPUs,
 *                                                  CPU seconds of PID and those it started,
 *                                                  without soakers */
#include "reference/counters.h"
#include "reference/load.h"
#include "reference/system.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEAD 0.1          /* s of load before anything counts, for the clock to settle */
#define LONGEST 60.0      /* s */
#define BATCH 100000      /* steps of a chain, or so many words, between two looks at the clock */
#define WORDS_AT_ONCE 8   /* read by one round of the loop, so that its end costs nothing */

static _Noreturn void refuse(void)
{
    fputs("usage: rail-reference counters INTERFACE | integer FILE CPU SECONDS | "
          "read FILE CPU SECONDS BYTES | burn FILE SHARE SECONDS PID; SHARE 0 to 1, SECONDS up to 60, BYTES a multiple of 64\n",
          stderr);
    exit(2);
}

static double number(const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);
    if (*end != '\0' || end == text || !(value >= least && value <= most))
        refuse();
    return value;
}

/* A multiplication and an addition. The compiler has to have the value in a register after each
 * and may not know it, so that nothing is folded, and no two chains become one vector. */
#define STEP(x) \
    x = x * factor + addend; \
    __asm__ volatile("" : "+r"(x));
/* As many as the registers hold; the multiplier of x86 has one pipe with a latency of 3 cycles. */
#ifdef __x86_64__
#define CHAINS 6
#define STEPS STEP(a) STEP(b) STEP(c) STEP(d) STEP(e) STEP(f)
#else
#define CHAINS 12
#define STEPS \
    STEP(a) STEP(b) STEP(c) STEP(d) STEP(e) STEP(f) STEP(g) STEP(h) STEP(i) STEP(j) STEP(k) STEP(l)
#endif

static double multiply_and_add(size_t unused)
{
    uint64_t factor = 6364136223846793005u, addend = 1442695040888963407u;
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
#ifndef __x86_64__
    uint64_t g = 7, h = 8, i = 9, j = 10, k = 11, l = 12;
#endif
    __asm__ volatile("" : "+r"(factor), "+r"(addend));
    for (int count = 0; count < BATCH; count++) {
        STEPS
    }
    (void)unused;
    return 2.0 * CHAINS * BATCH;
}

static const double *memory;

static double read_words(size_t bytes)
{
    size_t words = bytes / sizeof *memory, passes = BATCH / words + 1;
    for (size_t pass = 0; pass < passes; pass++)
        for (const volatile double *at = memory; at < memory + words; at += WORDS_AT_ONCE) {
            (void)at[0], (void)at[1], (void)at[2], (void)at[3];
            (void)at[4], (void)at[5], (void)at[6], (void)at[7];
        }
    return (double)bytes * (double)passes;
}

static void work(const char *file, double (*batch)(size_t bytes), size_t bytes, double seconds)
{
    double done = 0, now, limit = elapsed_now() + LEAD;
    while (elapsed_now() < limit)
        batch(bytes);
    double cpu_begin = seconds_of(CLOCK_THREAD_CPUTIME_ID), begin = elapsed_now();
    do {
        done += batch(bytes);
        now = elapsed_now();
    } while (now < begin + seconds);
    add_line(file, (double[]){done, seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu_begin, now - begin}, 3);
}

static void map_memory(size_t bytes)
{
    double *words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (words == MAP_FAILED)
        give_up("memory");
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        words[i] = (double)i;
    memory = words;
}

static bool asks(const char *word, int argc, char **argv, int count)
{
    return argc == count && strcmp(argv[1], word) == 0;
}

int main(int argc, char **argv)
{
    alarm((unsigned)(2 * LONGEST)); /* whatever becomes of who waits for it */
    if (asks("burn", argc, argv, 6)) {
        double share = number(argv[3], 0, 1), seconds = number(argv[4], 0, LONGEST);
        burn(argv[2], share, seconds, (pid_t)number(argv[5], 0, INT32_MAX));
        return 0;
    }
    if (asks("counters", argc, argv, 3)) {
        record_counters(argv[2]);
        return 0;
    }
    bool reads = asks("read", argc, argv, 6);
    if (!reads && !asks("integer", argc, argv, 5))
        refuse();
    size_t bytes = reads ? (size_t)number(argv[5], 64, 1 << 30) / 64 * 64 : 0;
    double seconds = number(argv[4], 0, LONGEST);
    pin((int)number(argv[3], 0, CPU_SETSIZE - 1));
    if (reads)
        map_memory(bytes);
    work(argv[2], reads ? read_words : multiply_and_add, bytes, seconds);
    return 0;
}
