/* Everything that a launch needs before it measures: parameters, files, rings, memory. */
#ifndef RAIL_DISK_PREPARE_H
#define RAIL_DISK_PREPARE_H

#include "disk.h"

/* Reads the launch's parameters and opens what it needs; fails before anything is written if it
 * can't be done. What it really is goes to settings, warnings among it. For release_workers. */
struct worker *prepare_workers(struct work *work, struct fields *settings);

/* Lays the files out; they are then as they have to be for the first replication. */
void lay_out_files(const struct work *work, struct worker *workers);

void release_workers(const struct work *work, struct worker *workers);

#endif
