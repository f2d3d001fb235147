#include "pages.h"

#include "../lib/place.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SAMPLES 64 /* pages asked about in each range */

static bool overlaps(const struct range *ranges, size_t count, uintptr_t begin, uintptr_t end)
{
    for (size_t i = 0; i < count; i++)
        if (begin < (uintptr_t)ranges[i].begin + ranges[i].size &&
            (uintptr_t)ranges[i].begin < end)
            return true;
    return false;
}

/* /proc/self/smaps: a line with the addresses of each mapping, then one for each thing about it.
 * Neighbouring mappings of one kind are one there. */
static void read_sizes(const struct range *ranges, size_t count, struct pages *pages)
{
    char line[512], name[64];
    bool inside = false;
    unsigned long begin, end;
    double resident = 0, huge = 0, value;
    FILE *file = fopen("/proc/self/smaps", "re");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            inside = overlaps(ranges, count, begin, end);
        else if (!inside || sscanf(line, "%63[^:]: %lf", name, &value) != 2)
            continue;
        else if (strcmp(name, "KernelPageSize") == 0)
            pages->page = (size_t)value * 1024;
        else if (strcmp(name, "Rss") == 0)
            resident += value;
        else if (strcmp(name, "AnonHugePages") == 0)
            huge += value;
        else if (strcmp(name, "Private_Hugetlb") == 0 || strcmp(name, "Shared_Hugetlb") == 0) {
            resident += value;
            huge += value;
        }
    }
    if (file)
        fclose(file);
    pages->huge_share = resident > 0 ? huge / resident : 0;
}

static void read_nodes(const struct range *ranges, size_t count, struct pages *pages)
{
    cpu_set_t nodes; /* as large as a set of nodes needs to be */
    CPU_ZERO(&nodes);
    for (size_t i = 0; i < count; i++) {
        void *addresses[SAMPLES];
        int page_nodes[SAMPLES];
        for (size_t k = 0; k < SAMPLES; k++)
            addresses[k] = (void *)(uintptr_t)(ranges[i].begin + ranges[i].size / SAMPLES * k);
        if (syscall(SYS_move_pages, 0, (unsigned long)SAMPLES, addresses, NULL, page_nodes, 0) != 0)
            return;
        for (size_t k = 0; k < SAMPLES; k++)
            if (page_nodes[k] >= 0)
                CPU_SET((size_t)page_nodes[k], &nodes);
    }
    cpu_list(&nodes, pages->nodes, sizeof pages->nodes);
}

struct pages pages_of(const struct range *ranges, size_t count)
{
    struct pages pages = {.page = (size_t)sysconf(_SC_PAGESIZE)};
    read_sizes(ranges, count, &pages);
    read_nodes(ranges, count, &pages);
    return pages;
}
