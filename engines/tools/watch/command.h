/* What the kernel counted while a command ran. */
#ifndef RAIL_WATCH_COMMAND_H
#define RAIL_WATCH_COMMAND_H

#include "sources.h"

#include <signal.h>
#include <sys/resource.h>

/* Runs it, passing on the signals that the descriptor takes, and prints what moved meanwhile.
 * Returns the command's exit status; 128 and its number if a signal ended it. before: what
 * this process was started with, which the command gets. */
struct inherited {
    sigset_t blocked;
    struct rlimit files;
};
int watch_command(struct sources *sources, char **command, int signals,
                  const struct inherited *before, double deadline);

#endif
