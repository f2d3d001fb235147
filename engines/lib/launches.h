/* Launch after launch, each a line of standard input: how the engine is started, its words quoted
 * as a shell reads them. In each the text $n in double quotes is a newline. Before a launch the
 * mark is written to standard error, after one that ended well to standard output; one that fails
 * ends the process, as the end of the input does. */
#ifndef RAIL_LAUNCHES_H
#define RAIL_LAUNCHES_H

#include "engine.h"

#define LAUNCHES "launches" /* the role, whose one argument is the mark */

/* Each is a process, forked from this one, where nothing is left of those before: what loading a
 * program takes is paid once. What follows a line on standard input is the launch's own. */
int launches_apart(const struct engine *engine, const char *mark);

/* All are in this process, each with its own options and no --deadline, clients only: for who
 * starts other programs, of which each costs as much as a fork of its own. */
int launches_inside(const struct engine *engine, const char *mark);

#endif
