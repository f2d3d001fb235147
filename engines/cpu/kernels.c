#include "kernels.h"

static const struct {
    const char *name;
    size_t size;
} precisions[] = {
    [INT8] = {"int8", 1},     [INT16] = {"int16", 2},     [SINGLE] = {"single", 4},
    [DOUBLE] = {"double", 8}, [INTEGER] = {"integer", 8},
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
    double elements = kernel->width / (double)element_size(kernel->precision);
    return elements * kernel->chains * STEPS * (kernel->form == ADD ? 1 : 2);
}
