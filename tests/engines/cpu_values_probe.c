/* For each loop that this CPU can run, after so many rounds as standard input says: its name;
 * whether its outcome is that of the same operations in plain C; whether the comparison would see
 * one wrong bit; and whether every floating-point value is a normal number. */
#include "../cpu/kernels.c"
#include "../cpu/portable.c"
#include "../cpu/values.c"
#include "../cpu/x86.c"

#include <math.h>
#include <stdio.h>

static int normal(const struct kernel *kernel, const struct registers *registers)
{
    int all = 1;
    for (int chain = 0; chain < kernel->chains; chain++)
        for (size_t at = 0; at < (size_t)kernel->width; at += element_size(kernel->precision)) {
            double wide;
            float narrow;
            uint16_t half;
            memcpy(&wide, registers->chains[chain] + at, sizeof wide);
            memcpy(&narrow, registers->chains[chain] + at, sizeof narrow);
            memcpy(&half, registers->chains[chain] + at, sizeof half);
            bool is_single = kernel->precision == SINGLE || kernel->precision == BF16;
            int exponent = half >> 10 & 31;
            all = all && (kernel->precision != DOUBLE || isnormal(wide)) &&
                  (!is_single || isnormal(narrow)) &&
                  (kernel->precision != FP16 || (exponent > 0 && exponent < 31));
        }
    return all;
}

int main(void)
{
    static struct registers worked, expected;
    unsigned long rounds;
    if (scanf("%lu", &rounds) != 1)
        return 1;
    for (size_t i = 0; i < kernel_count; i++) {
        const struct kernel *kernel = &kernels[i];
        if (!kernel->supported())
            continue;
        values_begin(kernel, &worked);
        kernel->run(&worked, rounds);
        values_end(kernel, rounds, &expected);
        int equal = values_equal(kernel, &worked, &expected), finite = normal(kernel, &worked);
        worked.chains[kernel->chains - 1][kernel->width - 1] ^= 1;
        printf("%s_%s %d %d %d\n", kernel->vector, precision_name(kernel->precision), equal,
               !values_equal(kernel, &worked, &expected), finite);
    }
    return 0;
}
