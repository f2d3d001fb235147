/* The command line of rail-watch. */
#ifndef RAIL_WATCH_OPTIONS_H
#define RAIL_WATCH_OPTIONS_H

#include <stdbool.h>

struct options {
    bool json;
    double interval, deadline; /* seconds */
    const char *marks;         /* the socket's name, NULL for none */
    const char *root;          /* "" for this host */
    char **command;            /* ends with NULL; NULL for none */
};

/* Any mistake ends in fail(BAD_PARAMETER); --help and --version are answered here. */
void options_parse(struct options *options, int argc, char **argv);

#endif
