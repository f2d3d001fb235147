#include "kernels.h"

#include "../lib/failure.h"

#include <stdio.h>
#include <string.h>

/* Those that this CPU has, narrowest first; returns how many. */
static size_t units_there(const struct vector_unit *there[4])
{
    size_t count = 0;
    there[count++] = &scalar_unit;
#if defined(__x86_64__)
    there[count++] = &sse2_unit;
    if (__builtin_cpu_supports("avx2"))
        there[count++] = &avx2_unit;
    if (__builtin_cpu_supports("avx512f"))
        there[count++] = &avx512_unit;
#elif defined(__aarch64__)
    there[count++] = &neon_unit;
#endif
    return count;
}

const struct vector_unit *vector_unit(const char *name)
{
    const struct vector_unit *there[4];
    char names[128] = "";
    size_t count = units_there(there);
    if (strcmp(name, "auto") == 0)
        return there[count - 1];
    for (size_t i = 0; i < count; i++) {
        if (strcmp(there[i]->name, name) == 0)
            return there[i];
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", there[i]->name);
    }
    fail(BAD_PARAMETER, "vector: this CPU has no %s; it has %s: choose one of them, or auto", name,
         names);
}
