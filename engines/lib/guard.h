/* Ends the process when it should not live on: its standard input closes (the controller died or
 * lets go) or its deadline passes. A thread of its own, asleep all the while. */
#ifndef RAIL_GUARD_H
#define RAIL_GUARD_H

#include "engine.h"

/* Takes the first line of standard input, or RAILGAUGE_SECRET, as the secret. Before guard_start,
 * which reads standard input to its end. */
void read_secret(struct launch *launch);

/* Standard input is watched if it is a pipe or a socket. */
void guard_start(const struct launch *launch);

/* Guards launch after launch in this process, each up to the usual deadline; what comes on standard
 * input is left to be read. Before each of them guard_next, and with NULL after it. */
void guard_launches(void);
void guard_next(const struct launch *launch);

/* For a launch whose replications have the usual deadline each: begins it anew. */
void guard_renew(void);

/* A second guard for the deadline alone, with a priority above real-time test threads, so that
 * not even they can outlive it. Where the user may not, it does nothing. */
void guard_real_time(void);

/* Called before the guard ends the process, in the guard's thread. */
void guard_cleanup(void (*cleanup)(void));

#endif
