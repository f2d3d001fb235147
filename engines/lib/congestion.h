/* TCP's congestion control, chosen by name. */
#ifndef RAIL_CONGESTION_H
#define RAIL_CONGESTION_H

#include "fields.h"

/* Sets it ("system": leaves the kernel's) or fails with CONGESTION_REFUSED and what there is. */
void set_congestion(int fd, const char *name);

/* Records which one the socket really has. */
void add_congestion(int fd, struct fields *settings);

#endif
