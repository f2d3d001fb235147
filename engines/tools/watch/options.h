/* The command line of rail-watch. */
#ifndef RAIL_WATCH_OPTIONS_H
#define RAIL_WATCH_OPTIONS_H

#include "../../lib/engine.h"

#include <stdbool.h>

struct options {
    bool json;
    double interval, deadline; /* seconds */
    char marks[TEXT_LIMIT];    /* the socket's name, "" for none */
    char root[TEXT_LIMIT];     /* "" for this host */
    char **command;            /* ends with NULL; NULL for none */
};

/* Any mistake ends in fail(BAD_PARAMETER); --help and --version are answered here. */
void options_parse(struct options *options, int argc, char **argv);

#endif
