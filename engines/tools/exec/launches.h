/* Launch after launch in one process, as a shell would start one process after another: what a
 * process and its guards take to start is a third of what a short command takes. */
#ifndef RAIL_EXEC_LAUNCHES_H
#define RAIL_EXEC_LAUNCHES_H

#include "../../lib/engine.h"

/* Takes a launch from each line of standard input: how rail-exec is started, its words quoted as a
 * shell reads them. In each the text $n in double quotes is a newline. Before a launch the mark is
 * written to standard error, after one that ended well to standard output; one that fails ends the
 * process, as the end of the input does. */
int launches(const struct engine *engine, const char *mark);

#endif
