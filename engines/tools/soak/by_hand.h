/* rail-soak for people: what a command costs, or the load every second. */
#ifndef RAIL_SOAK_BY_HAND_H
#define RAIL_SOAK_BY_HAND_H

#include "options.h"
#include "soakers.h"

#include <signal.h>

/* Both return the exit status. signals: a signalfd of SIGINT, SIGTERM, SIGHUP and SIGCHLD. */
int soak_command(const struct options *options, const struct soakers *soakers, int signals,
                 const sigset_t *signals_before);
int soak_for_ever(const struct options *options, const struct soakers *soakers, int signals);

#endif
