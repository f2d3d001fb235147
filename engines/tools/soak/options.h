/* The command line of rail-soak. */
#ifndef RAIL_SOAK_OPTIONS_H
#define RAIL_SOAK_OPTIONS_H

#include "../../lib/engine.h"

struct options {
    bool json;
    char marks[TEXT_LIMIT]; /* a name; "" by hand */
    double calibrate;       /* seconds */
    double period;          /* seconds */
    double tolerance;       /* a share */
    double deadline;        /* seconds */
    char **command;         /* NULL for none */
};

void options_parse(struct options *options, int argc, char **argv);

#endif
