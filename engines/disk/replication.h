/* One replication: all threads read or write, and what comes of it. */
#ifndef RAIL_DISK_REPLICATION_H
#define RAIL_DISK_REPLICATION_H

#include "disk.h"

/* Has nothing of what came before matter: all is on the device, nothing in the page cache. */
void settle_files(const struct work *work, struct worker *workers);

void measure_disk(const struct work *work, struct worker *workers);

/* Sets the metrics of what measure_disk did; a warning if O_DIRECT was not what it says. */
void set_metrics(const struct work *work, const struct worker *workers, struct result *result);

#endif
