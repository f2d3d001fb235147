/* The command line of a tool, which is no engine: a table of options, --help, --version and, after
 * "--", a command. */
#ifndef RAIL_TOOL_OPTIONS_H
#define RAIL_TOOL_OPTIONS_H

#include "engine.h"

struct tool {
    const char *name;       /* "rail-soak" */
    const char *summary;    /* what it is, for the first line of --help */
    const char *usage;      /* its ways to be called, a line each */
    const char *remarks;    /* the end of --help */
    const struct parameter *options; /* ends with an entry whose name is NULL */
    bool takes_command;     /* what stands after "--" is one */
};

/* Fills values, one an option, in the table's order; returns what stands after "--", NULL if that
 * isn't there. Answers --help and --version and ends the process; fails with BAD_PARAMETER. */
char **tool_options(const struct tool *tool, int argc, char **argv, struct value *values);

#endif
