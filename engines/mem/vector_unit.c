#include "kernels.h"

#include "../lib/failure.h"

#include <stdio.h>
#include <string.h>

/* Those that this CPU has, narrowest first; returns how many. */
static size_t supported_units(const struct vector_unit *units[4])
{
    size_t count = 0;
    units[count++] = &scalar_unit;
#if defined(__x86_64__)
    units[count++] = &sse2_unit;
    if (__builtin_cpu_supports("avx2"))
        units[count++] = &avx2_unit;
    if (__builtin_cpu_supports("avx512f"))
        units[count++] = &avx512_unit;
#elif defined(__aarch64__)
    units[count++] = &neon_unit;
#endif
    return count;
}

const struct vector_unit *vector_unit(const char *name)
{
    const struct vector_unit *units[4];
    char names[128] = "";
    size_t count = supported_units(units);
    if (strcmp(name, "auto") == 0)
        return units[count - 1];
    for (size_t i = 0; i < count; i++) {
        if (strcmp(units[i]->name, name) == 0)
            return units[i];
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", units[i]->name);
    }
    fail(BAD_PARAMETER, "vector: this CPU has no %s; it has %s: choose one of them, or auto", name,
         names);
}
