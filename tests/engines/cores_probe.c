/* Prints in which order threads would fill the CPUs of the folder told on standard input, which
 * says too how many CPUs there are and which one of them may not be used (-1: none). */
#include "cores.h"

#include <stdio.h>

int main(void)
{
    char folder[400];
    int count, forbidden, cpus[CPU_LIMIT];
    cpu_set_t allowed;
    if (scanf("%399s %d %d", folder, &count, &forbidden) != 3)
        return 1;
    CPU_ZERO(&allowed);
    for (int cpu = 0; cpu < count; cpu++)
        if (cpu != forbidden)
            CPU_SET((size_t)cpu, &allowed);
    size_t found = cores_first(folder, &allowed, cpus);
    for (size_t i = 0; i < found; i++)
        printf("%d ", cpus[i]);
    return 0;
}
