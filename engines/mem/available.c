#include "available.h"

#include "../lib/failure.h"
#include "files.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define GIB (1024.0 * 1024 * 1024)
#define SPARED 0.05 /* of what is available: others go on allocating */

/* Where a control group says what it may use, what it uses, and what of that are file pages that
 * the kernel gives back. */
struct version {
    const char *root, *limit, *used, *reclaimable;
};
static const struct version version1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                        "memory.usage_in_bytes", "total_inactive_file"};
static const struct version version2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                        "inactive_file"};

static double room_of(const struct version *version, const char *group)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s%s/%s", version->root, group, version->limit);
    double limit = read_number(path);
    snprintf(path, sizeof path, "%s%s/%s", version->root, group, version->used);
    double used = read_number(path);
    snprintf(path, sizeof path, "%s%s/memory.stat", version->root, group);
    double reclaimable = read_key(path, version->reclaimable);
    if (limit < 0 || used < 0)
        return INFINITY;
    return limit - used + (reclaimable > 0 ? reclaimable : 0);
}

/* Of the group and all above it. In a container the path may be the host's and not be here: then
 * the root is the container's own group. */
static double room_in_group(const struct version *version, char *group)
{
    double room = room_of(version, "");
    for (char *end = group + strlen(group); end && end > group; end = strrchr(group, '/')) {
        *end = '\0';
        room = fmin(room, room_of(version, group));
    }
    return room;
}

static double room_in_groups(void)
{
    char line[PATH_MAX];
    double room = INFINITY;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *group++ = '\0';
        if (strcmp(controllers + 1, "memory") == 0)
            room = fmin(room, room_in_group(&version1, group));
        else if (controllers[1] == '\0')
            room = fmin(room, room_in_group(&version2, group));
    }
    if (file)
        fclose(file);
    return room;
}

static double room_on_node(int node)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/meminfo", node);
    double free = read_key(path, "MemFree:"), files = read_key(path, "Inactive(file):");
    return free < 0 ? INFINITY : (free + (files > 0 ? files : 0)) * 1024;
}

void must_be_available(double bytes, int node)
{
    double host = read_key("/proc/meminfo", "MemAvailable:") * 1024;
    const double rooms[] = {host < 0 ? INFINITY : host, room_in_groups(),
                            node < 0 ? INFINITY : room_on_node(node)};
    static const char *const places[] = {"on this host", "in this process's control group",
                                         "on that NUMA node"};
    for (size_t i = 0; i < 3; i++)
        if (bytes > rooms[i] * (1 - SPARED))
            fail(OUT_OF_MEMORY,
                 "the test needs %.5g GiB of memory, and %.5g GiB are available %s: use smaller "
                 "blocks or fewer threads",
                 bytes / GIB, fmax(rooms[i], 0) / GIB, places[i]);
}

void must_be_reserved(double bytes, size_t page, int node)
{
    char path[128], folder[64] = "/sys/kernel/mm";
    if (node >= 0)
        snprintf(folder, sizeof folder, "/sys/devices/system/node/node%d", node);
    snprintf(path, sizeof path, "%s/hugepages/hugepages-%zukB/free_hugepages", folder, page / 1024);
    double unused = read_number(path), required = bytes / (double)page;
    if (unused < 0)
        fail(OUT_OF_MEMORY, "this host has no huge pages of %zu MiB: choose another huge_pages",
             page >> 20);
    if (required > unused)
        fail(OUT_OF_MEMORY,
             "the test needs %.0f huge pages of %zu MiB, and %.0f are reserved and free: reserve "
             "them as root in %.*snr_hugepages, or choose another huge_pages",
             required, page >> 20, unused, (int)(strlen(path) - strlen("free_hugepages")), path);
}
