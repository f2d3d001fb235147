#include "caches.h"

#include "../lib/place.h"
#include "files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_LIMIT 8192 /* a list of CPUs, no two of them neighbours */

static bool read_cache_file(int cpu, int index, const char *name, char *text, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, name);
    return read_line(path, text, size);
}

/* Some kernels don't report which CPUs share a cache: then only this one is sure to use it. */
static void read_shared(int cpu, int index, cpu_set_t *shared)
{
    char text[LIST_LIMIT];
    int cpus[CPU_LIMIT];
    CPU_ZERO(shared);
    CPU_SET((size_t)cpu, shared);
    if (!read_cache_file(cpu, index, "shared_cpu_list", text, sizeof text))
        return;
    size_t count = read_cpus("shared_cpu_list", text, cpus);
    for (size_t i = 0; i < count; i++)
        CPU_SET((size_t)cpus[i], shared);
}

static bool read_cache(int cpu, int index, struct cache *cache)
{
    char type[TEXT_LIMIT], level[TEXT_LIMIT], size[TEXT_LIMIT];
    if (!read_cache_file(cpu, index, "type", type, sizeof type) ||
        strcmp(type, "Instruction") == 0 ||
        !read_cache_file(cpu, index, "level", level, sizeof level) ||
        !read_cache_file(cpu, index, "size", size, sizeof size))
        return false;
    cache->level = atoi(level);
    cache->size = strtoull(size, NULL, 10) * (strchr(size, 'M') ? 1 << 20 : 1 << 10);
    read_shared(cpu, index, &cache->shared);
    return cache->size > 0;
}

/* What the C library reports; not which CPUs share a cache, but the third level usually is
 * everybody's. */
static size_t caches_by_library(int cpu, struct cache caches[CACHE_LEVELS])
{
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                _SC_LEVEL3_CACHE_SIZE};
    size_t count = 0;
    for (int i = 0; i < 3; i++) {
        long size = sysconf(names[i]);
        if (size <= 0)
            continue;
        caches[count].level = i + 1;
        caches[count].size = (size_t)size;
        CPU_ZERO(&caches[count].shared);
        for (size_t other = 0; other < CPU_SETSIZE; other++)
            if (i == 2 || other == (size_t)cpu)
                CPU_SET(other, &caches[count].shared);
        count++;
    }
    return count;
}

size_t caches_of(int cpu, struct cache caches[CACHE_LEVELS])
{
    size_t count = 0;
    for (int index = 0; index < 10 && count < CACHE_LEVELS; index++)
        if (read_cache(cpu, index, &caches[count]))
            count++;
    return count ? count : caches_by_library(cpu, caches);
}
