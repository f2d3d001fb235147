/* What /proc/stat says of each CPU's time. */
#ifndef RAIL_SOAK_KERNEL_TIMES_H
#define RAIL_SOAK_KERNEL_TIMES_H

#include <stddef.h>
#include <stdint.h>

struct kernel_times {
    uint64_t busy;   /* ns in user (not niced, as the soakers are), system, irq and softirq */
    uint64_t stolen; /* ns that the hypervisor gave to others; in ticks of mostly 10 ms */
};

/* Fills times, one for each of the CPUs, which rise; zeros where /proc/stat has none. */
void kernel_times(const int *cpus, size_t count, struct kernel_times *times);

#endif
