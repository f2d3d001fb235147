/* What the kernel counts of an interface, of IP, TCP and UDP. */
#ifndef RAIL_REFERENCE_COUNTERS_H
#define RAIL_REFERENCE_COUNTERS_H

/* Says `ready`, looks until standard input has a line or ends, then says what it saw. */
void record_counters(const char *interface);

#endif
