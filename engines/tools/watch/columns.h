/* The heading of /proc/interrupts and /proc/softirqs: which CPU a column is of. CPUs that are
 * offline have none. */
#ifndef RAIL_WATCH_COLUMNS_H
#define RAIL_WATCH_COLUMNS_H

#include "text.h"

#define MOST_CPUS 8192 /* what x86 kernels can be built for */

struct columns {
    struct text cpus[MOST_CPUS]; /* "0", "1" ... within the heading */
    size_t count;
};

/* Takes the heading off the text. */
void take_columns(struct text *text, struct columns *columns);

#endif
