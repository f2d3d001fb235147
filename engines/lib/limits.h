/* What a server allows its clients: one table, with an option for each. */
#ifndef RAIL_LIMITS_H
#define RAIL_LIMITS_H

#include "engine.h"
#include "sockets.h"

/* The options, in the order of enum limit; ends with an entry whose name is NULL. */
extern const struct parameter limit_options[LIMITS + 1];

void set_default_limits(struct launch *launch);

/* Fails with LIMIT_EXCEEDED if the client's parameters are beyond the server's limits. */
void check_limits(const struct launch *launch);

/* Likewise for the length of a replication, what it omits included, in seconds. */
void check_duration(const struct launch *launch, double duration);

/* Fails if --allow has anything but addresses and prefixes, comma between them. */
void check_sources(const struct launch *launch);

/* True if the server takes connections from that address. */
bool is_allowed(const struct launch *launch, const struct address *source);

#endif
