/* Others that use the CPUs of a measurement make the machine look slow. */
#ifndef RAIL_DISTURBANCE_H
#define RAIL_DISTURBANCE_H

#include "clock.h"

#include <stddef.h>

/* The share of so many CPUs' time that busy threads had; 1 if nobody else did anything. */
double share_of_cpus(const struct usage *usage, size_t cpus);

/* Warns with the code busy-cpus if that share was too low; least: of all replications. */
void warn_if_disturbed(double least);

#endif
