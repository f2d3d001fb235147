/* What all of rail-reference asks the kernel for, and its end where that refuses. */
#ifndef RAIL_REFERENCE_SYSTEM_H
#define RAIL_REFERENCE_SYSTEM_H

#include <stddef.h>
#include <time.h>

/* Says what could not be had and why (errno). */
_Noreturn void give_up(const char *subject);

double seconds_of(clockid_t clock);

/* Not slewed by NTP. */
double elapsed_now(void);

void pin(int cpu);

/* Adds a line of numbers to the file. */
void add_line(const char *file, const double *numbers, size_t count);

#endif
