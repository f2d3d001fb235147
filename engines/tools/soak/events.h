/* What rail-soak says: events for a controller, tables for people. */
#ifndef RAIL_SOAK_EVENTS_H
#define RAIL_SOAK_EVENTS_H

#include "calibration.h"
#include "load.h"

#include "../../lib/failure.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

/* Events, one line each on standard output. */
void emit_calibrated(const struct soakers *soakers, const struct calibration *calibration);
void emit_load(const struct soakers *soakers, uint64_t launch, uint64_t replication,
               const struct load *loads);
void emit_warning(const char *code, const char *message);
void emit_error(enum failure failure, const char *message);
void emit_done(void);

/* Tables. */
void show_loads(FILE *out, const struct soakers *soakers, const struct load *loads);
void show_command(FILE *out, const struct rusage *used, double elapsed);
void show_line(const struct soakers *soakers, const struct load *loads);

#endif
