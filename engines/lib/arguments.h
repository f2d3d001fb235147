/* The command line. */
#ifndef RAIL_ARGUMENTS_H
#define RAIL_ARGUMENTS_H

#include "engine.h"

/* Fills launch; any mistake ends in fail(BAD_PARAMETER). --describe, --help and --version are
 * answered here and end the process. */
void parse_arguments(const struct engine *engine, int argc, char **argv, struct launch *launch);

#endif
