/* A TAP device (tun(4)): it is gone when its descriptor is. */
#ifndef RAIL_WIRE_TAP_H
#define RAIL_WIRE_TAP_H

#include <stdbool.h>

/* True if this process may open /dev/net/tun. */
bool tap_possible(void);

/* Makes one in this thread's network namespace, with frames as they are on a wire: no offload, no
 * super-packets. netns: its name, for messages. Returns its descriptor; fails with NOT_PERMITTED,
 * BAD_PARAMETER or SYSTEM_ERROR. */
int tap_open(const char *netns, const char *name);

#endif
