/* What people read: a line an interval, or what moved while a command ran. All of it is from the
 * differences between the table's last reading and what has been reported of it before. */
#ifndef RAIL_WATCH_BY_HAND_H
#define RAIL_WATCH_BY_HAND_H

#include "table.h"

/* Prints a line, below a heading now and then, for the seconds since the last one. */
void print_line(const struct table *table, double at, double elapsed);

/* Prints all that moved in so many seconds. */
void print_report(const struct table *table, double elapsed);

/* From here on, differences count anew. */
void table_settle(struct table *table);

#endif
