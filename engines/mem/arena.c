#include "arena.h"

#include "../lib/failure.h"
#include "../lib/parameters.h"
#include "../lib/place.h"
#include "available.h"
#include "files.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NODE_LIMIT 1024
#define MIB ((size_t)1 << 20)
#define HUGE_SHIFT 26 /* of the page size's logarithm among mmap's flags */

static bool uses_huge_pages(const struct launch *launch, const char *huge_pages)
{
    return strcmp(text_of(launch, "huge_pages"), huge_pages) == 0;
}

/* Of the pool that somebody reserved; 0: no such pages were asked for. */
static size_t reserved_page(const struct launch *launch)
{
    return uses_huge_pages(launch, "2MiB")   ? 2 * MIB
           : uses_huge_pages(launch, "1GiB") ? 1024 * MIB
                                             : 0;
}

size_t arena_size(const struct launch *launch, size_t bytes)
{
    size_t page = reserved_page(launch) ? reserved_page(launch)
                  : uses_huge_pages(launch, "none") ? (size_t)sysconf(_SC_PAGESIZE)
                                          : 2 * MIB;
    return (bytes + page - 1) / page * page;
}

static void check_node(int node)
{
    char nodes[TEXT_LIMIT] = "0";
    int list[CPU_LIMIT];
    read_line("/sys/devices/system/node/has_memory", nodes, sizeof nodes);
    size_t count = read_cpus("has_memory", nodes, list);
    for (size_t i = 0; i < count; i++)
        if (list[i] == node)
            return;
    fail(BAD_PARAMETER, "numa_node: this host has no memory on a node %d; nodes with memory: %s",
         node, nodes);
}

void arena_check(const struct launch *launch, double total)
{
    int node = int_of(launch, "numa_node");
    if (node >= 0)
        check_node(node);
    if (reserved_page(launch))
        must_be_reserved(total, reserved_page(launch), node);
    else
        must_be_available(total, node);
}

static void bind_to_node(void *memory, size_t size, int node)
{
    unsigned long nodes[NODE_LIMIT / (8 * sizeof(unsigned long))] = {0};
    const size_t bits = 8 * sizeof *nodes;
    nodes[(size_t)node / bits] |= 1ul << ((size_t)node % bits);
    if (syscall(SYS_mbind, memory, size, MPOL_BIND, nodes, (unsigned long)NODE_LIMIT, 0) == 0)
        return;
    fail(NOT_PERMITTED,
         "numa_node: the kernel puts no memory on node %d for this process: %s; leave numa_node "
         "out, or start it with numactl",
         node, strerror(errno));
}

static void advise(void *memory, size_t size, const struct launch *launch)
{
    if (reserved_page(launch))
        return;
    bool transparent = uses_huge_pages(launch, "transparent");
    if (madvise(memory, size, transparent ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0 || !transparent)
        return; /* a kernel without transparent huge pages uses none */
    fail(NOT_PERMITTED, "huge_pages transparent: this kernel has none (%s): choose none, or 2MiB",
         strerror(errno));
}

unsigned char *arena_map(const struct launch *launch, size_t size)
{
    size_t page = reserved_page(launch);
    size_t aligned = page == 0 && uses_huge_pages(launch, "transparent") ? 2 * MIB : 0;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    if (page)
        flags |= MAP_HUGETLB | __builtin_ctzll(page) << HUGE_SHIFT;
    void *memory = mmap(NULL, size + aligned, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED)
        fail(OUT_OF_MEMORY, "cannot map %zu MiB of memory (huge_pages %s): %s", size / MIB,
             text_of(launch, "huge_pages"), strerror(errno));
    if (aligned)
        memory = (void *)(((uintptr_t)memory + aligned - 1) / aligned * aligned);
    advise(memory, size, launch);
    if (int_of(launch, "numa_node") >= 0)
        bind_to_node(memory, size, int_of(launch, "numa_node"));
    return memory;
}
