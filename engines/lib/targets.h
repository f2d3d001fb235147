/* Who may be sent traffic that nobody there asked for. */
#ifndef RAIL_TARGETS_H
#define RAIL_TARGETS_H

#include "engine.h"
#include "sockets.h"

/* Fails with TARGET_REFUSED unless the address is one of --plan-hosts, or --i-own-this-network was
 * given. */
void must_be_ours(const struct launch *launch, const struct address *address);

#endif
