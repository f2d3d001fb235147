/* Somebody else's server for one client: started, watched until it is ready, ended. */
#ifndef RAIL_EXEC_SERVE_H
#define RAIL_EXEC_SERVE_H

#include "../../lib/engine.h"

/* The engine's server role: reports the port once the command is ready, and ends with it when
 * standard input closes. */
int serve(const struct launch *launch);

#endif
