/* The list of lost packets: a JSON line for each. */
#ifndef RAIL_WIRE_DROPS_H
#define RAIL_WIRE_DROPS_H

#include "frame.h"

/* Begins the file anew, or fails with FILE_UNUSABLE. */
void drops_open(const char *path);

/* Adds a line if there is a file; any thread may call it. number: as the pattern counted it. */
void drops_add(const char *direction, uint64_t number, const struct frame *frame);

#endif
