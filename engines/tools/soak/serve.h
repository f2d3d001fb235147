/* rail-soak for a controller: replications that engines mark, lines on standard input. */
#ifndef RAIL_SOAK_SERVE_H
#define RAIL_SOAK_SERVE_H

#include "options.h"
#include "soakers.h"

/* Until it is told to end; returns the exit status. signals: a signalfd. */
int serve(const struct options *options, const struct soakers *soakers, int signals);

#endif
