/* Network interfaces by rtnetlink(7) and ethtool. Each function acts in the network namespace that
 * its socket was opened in, and returns 0 or the error (errno) that the kernel answers with. */
#ifndef RAIL_WIRE_LINK_H
#define RAIL_WIRE_LINK_H

/* A socket for this thread's present network namespace; -1 with errno set. */
int link_socket(void);

/* Makes a pair of veth interfaces (veth(4)): `name` here, `peer` in the namespace that the
 * descriptor `place` is of. Both are down. */
int link_add_pair(int fd, const char *name, int mtu, int place, const char *peer, int peer_mtu);

/* Brings an interface up with this MTU. By netlink, since ioctl refuses the queue's length to a
 * user namespace's root. waiting: frames that may wait in it. */
int link_set_up(int fd, const char *name, int mtu, int waiting);

/* Keeps an interface that is down yet from getting an IPv6 address, and so from sending packets of
 * its own. */
int link_without_addresses(int fd, const char *name);

/* Turns off all offloads that can be: what leaves is a single frame with its check sums. */
int link_without_offloads(int fd, const char *name);

int link_delete(int fd, const char *name);

#endif
