/* What rail-soak says: events for a controller, tables for people. */
#ifndef RAIL_SOAK_TELL_H
#define RAIL_SOAK_TELL_H

#include "calibration.h"
#include "load.h"

#include "../../lib/failure.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

/* Events, one line each on standard output. */
void tell_calibrated(const struct soakers *soakers, const struct calibration *calibration);
void tell_load(const struct soakers *soakers, uint64_t launch, uint64_t replication,
               const struct load *loads);
void tell_warning(const char *code, const char *message);
void tell_error(enum failure failure, const char *message);
void tell_done(void);

/* Tables. */
void show_loads(FILE *out, const struct soakers *soakers, const struct load *loads);
void show_command(FILE *out, const struct rusage *used, double elapsed);
void show_line(const struct soakers *soakers, const struct load *loads);

#endif
