/* The command line of rail-wire. */
#ifndef RAIL_WIRE_OPTIONS_H
#define RAIL_WIRE_OPTIONS_H

#include "device.h"
#include "pattern.h"

#include <stdbool.h>
#include <stddef.h>

enum loss_of { OF_IP, OF_UDP, OF_TCP };

struct options {
    struct device left, right;
    bool json;
    double rate;     /* bit/s; 0: none */
    double delay;    /* seconds, one way */
    double deadline; /* seconds */
    size_t queue;    /* bytes that may wait for the rate */
    int mtu;
    enum device_kind kind;
    struct pattern loss, duplicate, reorder;
    const char *loss_text; /* as given; "" for none */
    unsigned reorder_by;   /* packets that overtake */
    enum loss_of loss_of;
    bool impaired[2]; /* left to right, right to left */
    const char *drops; /* a file, NULL for none */
};

/* Any mistake ends in fail(BAD_PARAMETER); --help and --version are answered here. */
void options_parse(struct options *options, int argc, char **argv);

#endif
