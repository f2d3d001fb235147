/* The kernel's stamps of when packets came to the host. */
#ifndef RAIL_UDP_STAMPS_H
#define RAIL_UDP_STAMPS_H

#include "../lib/engine.h"

/* The kernel is asked when each datagram came: for a trace. While any socket asks, Linux stamps
 * every packet that comes to the host, other programs' too. */
bool is_stamped(const struct launch *launch);

/* Waits until packets are stamped as they come, a second at most. To be called when sockets have
 * asked for stamps, and before a replication, as its own datagrams are counted, too: Linux begins
 * with stamps a little later (net_enable_timestamp leaves that to a kernel thread), and until then
 * says instead when a packet was read. */
void stamps_await(void);

#endif
