#include "choice.h"

#include "../lib/failure.h"
#include "../lib/parameters.h"

#include <stdio.h>
#include <string.h>

static _Noreturn void refuse(const char *precision, const char *vector)
{
    char supported_names[128] = "";
    for (size_t i = 0; i < kernel_count; i++) {
        size_t length = strlen(supported_names);
        if (strcmp(precision_name(kernels[i].precision), precision) == 0 && kernels[i].supported())
            snprintf(supported_names + length, sizeof supported_names - length, "%s%s",
                     length ? ", " : "",
                     kernels[i].vector);
    }
    if (*supported_names == 0)
        fail(BAD_PARAMETER, "precision: this CPU has no instructions for %s", precision);
    fail(BAD_PARAMETER, "vector: this CPU has no %s for precision %s, but it has: %s", vector,
         precision, supported_names);
}

const struct kernel *choose_kernel(const struct launch *launch)
{
    const char *precision = text_of(launch, "precision");
    const char *vector = text_of(launch, "vector");
    for (size_t i = 0; i < kernel_count; i++)
        if (strcmp(precision_name(kernels[i].precision), precision) == 0 &&
            (strcmp(vector, "auto") == 0 || strcmp(vector, kernels[i].vector) == 0) &&
            kernels[i].supported())
            return &kernels[i];
    refuse(precision, vector);
}
