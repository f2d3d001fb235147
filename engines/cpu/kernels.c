#include "kernels.h"

static const struct {
    const char *name;
    size_t size;
} precisions[] = {
    [INT8] = {"int8", 1},     [INT16] = {"int16", 2},   [FP16] = {"fp16", 2},
    [BF16] = {"bf16", 4},     [SINGLE] = {"single", 4}, [DOUBLE] = {"double", 8},
    [INTEGER] = {"integer", 8},
};

size_t element_size(enum precision precision)
{
    return precisions[precision].size;
}

const char *precision_name(enum precision precision)
{
    return precisions[precision].name;
}

double round_operations(const struct kernel *kernel)
{
    static const int of_element[] = {[FUSED] = 2, [PAIR] = 2, [GROW] = 2, [ADD] = 1, [DOT] = 4};
    double elements = kernel->width / (double)element_size(kernel->precision);
    return elements * kernel->chains * STEPS * of_element[kernel->form];
}
