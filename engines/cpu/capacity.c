#include "choice.h"

#ifdef __x86_64__

#include <cpuid.h>
#include <string.h>

/* Multiply-add instructions a cycle with registers of 32 and of 64 bytes; 0: not known, or it
 * depends on the model's price (Skylake-SP has one or two). Intel: 64 and IA-32 Architectures
 * Optimization Reference Manual, the chapters on each core; AMD: Software Optimization Guides for
 * families 17h (56305), 19h (56665, 57647) and 1Ah (58455). */
static const struct {
    const char *vendor;
    unsigned family, first, last; /* models */
    int avx2, avx512;
} pipes[] = {
    {"GenuineIntel", 0x6, 0x3c, 0x3f, 2, 0},  /* Haswell, Broadwell */
    {"GenuineIntel", 0x6, 0x45, 0x47, 2, 0},
    {"GenuineIntel", 0x6, 0x4e, 0x4f, 2, 0},  /* Skylake, Broadwell-EP */
    {"GenuineIntel", 0x6, 0x55, 0x56, 2, 0},  /* Skylake-SP and its kin, Broadwell-DE */
    {"GenuineIntel", 0x6, 0x5e, 0x5e, 2, 0},  /* Skylake */
    {"GenuineIntel", 0x6, 0x6a, 0x6c, 2, 2},  /* Ice Lake-SP, -D */
    {"GenuineIntel", 0x6, 0x7d, 0x7e, 2, 1},  /* Ice Lake */
    {"GenuineIntel", 0x6, 0x8c, 0x8d, 2, 1},  /* Tiger Lake */
    {"GenuineIntel", 0x6, 0x8e, 0x8e, 2, 0},  /* Kaby Lake and after */
    {"GenuineIntel", 0x6, 0x9e, 0x9e, 2, 0},
    {"GenuineIntel", 0x6, 0xa5, 0xa6, 2, 0},
    {"GenuineIntel", 0x6, 0xa7, 0xa7, 2, 1},  /* Rocket Lake */
    {"AuthenticAMD", 0x17, 0x00, 0x2f, 1, 0}, /* Zen, Zen+ */
    {"AuthenticAMD", 0x17, 0x30, 0xaf, 2, 0}, /* Zen 2 */
    {"AuthenticAMD", 0x19, 0x00, 0x0f, 2, 0}, /* Zen 3 */
    {"AuthenticAMD", 0x19, 0x20, 0x5f, 2, 0},
    {"AuthenticAMD", 0x19, 0x10, 0x1f, 2, 1}, /* Zen 4: 64 bytes take two cycles */
    {"AuthenticAMD", 0x19, 0x60, 0xaf, 2, 1},
    {"AuthenticAMD", 0x1a, 0x00, 0x1f, 2, 2}, /* Zen 5, EPYC */
};

/* Every core with matrix tiles, Sapphire Rapids and after, has two pipes of each width. This goes
 * before the table: a virtual machine may bear another model's number. */
static bool has_tiles(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 24 & 1);
}

static int pipes_of(bool wide)
{
    unsigned a, b, c, d;
    char vendor[13] = "";
    if (has_tiles())
        return 2;
    if (!__get_cpuid(0, &a, &b, &c, &d))
        return 0;
    memcpy(vendor, &b, 4);
    memcpy(vendor + 4, &d, 4);
    memcpy(vendor + 8, &c, 4);
    __get_cpuid(1, &a, &b, &c, &d);
    unsigned family = (a >> 8 & 15) == 15 ? 15 + (a >> 20 & 255) : a >> 8 & 15;
    unsigned model = (a >> 4 & 15) | (a >> 12 & 0xf0);
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++)
        if (strcmp(vendor, pipes[i].vendor) == 0 && family == pipes[i].family &&
            model >= pipes[i].first && model <= pipes[i].last)
            return wide ? pipes[i].avx512 : pipes[i].avx2;
    return 0;
}

double pipeline_capacity(const struct kernel *kernel)
{
    if (kernel->form != FUSED)
        return 0;
    double elements = kernel->width / (double)element_size(kernel->precision);
    return 2 * elements * pipes_of(kernel->width == 64);
}

#else

double pipeline_capacity(const struct kernel *kernel)
{
    (void)kernel;
    return 0;
}

#endif
