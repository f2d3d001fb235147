#include "cores.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t cores_once = PTHREAD_ONCE_INIT;
static int usable[CPU_LIMIT];
static size_t usable_count;

/* How many usable siblings of a CPU come before it. The kernel's list is like 0,64 or 0-1. */
static size_t place_in_core(const char *folder, const cpu_set_t *allowed, size_t cpu)
{
    char path[512], list[4096] = "";
    snprintf(path, sizeof path, "%s/cpu%zu/topology/thread_siblings_list", folder, cpu);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    if (fgets(list, sizeof list, file) == NULL)
        *list = '\0';
    fclose(file);
    size_t before = 0;
    char *saved;
    for (char *part = strtok_r(list, ",\n", &saved); part; part = strtok_r(NULL, ",\n", &saved)) {
        char *end;
        size_t first = strtoul(part, &end, 10);
        size_t last = *end == '-' ? strtoul(end + 1, NULL, 10) : first;
        for (size_t sibling = first; sibling <= last && sibling < cpu; sibling++)
            before += CPU_ISSET(sibling, allowed) != 0;
    }
    return before;
}

size_t cores_first(const char *folder, const cpu_set_t *allowed, int cpus[CPU_LIMIT])
{
    size_t place[CPU_SETSIZE];
    size_t count = 0, last = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        place[cpu] = CPU_ISSET(cpu, allowed) ? place_in_core(folder, allowed, cpu) : 0;
        last = place[cpu] > last ? place[cpu] : last;
    }
    for (size_t round = 0; round <= last; round++)
        for (size_t cpu = 0; cpu < CPU_SETSIZE && count < CPU_LIMIT; cpu++)
            if (CPU_ISSET(cpu, allowed) && place[cpu] == round)
                cpus[count++] = (int)cpu;
    return count;
}

static void ask(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        usable_count = cores_first("/sys/devices/system/cpu", &allowed, usable);
}

size_t usable_cpus(int cpus[CPU_LIMIT])
{
    pthread_once(&cores_once, ask);
    memcpy(cpus, usable, usable_count * sizeof *cpus);
    return usable_count;
}
