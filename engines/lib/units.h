/* Numbers with units, as people write them. */
#ifndef RAIL_UNITS_H
#define RAIL_UNITS_H

#include "engine.h"

/* Reads text as a value of the type in base units (bytes, seconds, bit/s); a bare number is in
 * base units already. False if it isn't one. */
bool parse_quantity(enum parameter_type type, const char *text, double *value);

/* Writes a base value the way people write it: 4KiB, 12us, 1Gbit/s. */
void quantity_text(enum parameter_type type, double value, char *out, size_t size);

#endif
