/* A TAP device in a network namespace; it is gone when this process is, however that ends. */
#ifndef RAIL_WIRE_DEVICE_H
#define RAIL_WIRE_DEVICE_H

#include <net/if.h>
#include <stdint.h>
#include <stdio.h>

#define NAMESPACE_LIMIT 256 /* longest name or path, with its final zero */

/* One end of the wire. */
struct device {
    char netns[NAMESPACE_LIMIT]; /* below /run/netns, a path with a slash in front, or "-": ours */
    char name[IFNAMSIZ];
    int fd;
    FILE *statistics;
    uint64_t unread; /* as last seen */
};

/* Reads "NETNS/IFNAME"; option: for the message of fail(BAD_PARAMETER). */
void device_parse(struct device *device, const char *option, const char *text);

/* Makes the device, with frames as they are on a wire: no offload, no super-packets. Sets its MTU
 * and brings it up. Fails with NOT_PERMITTED, BAD_PARAMETER or SYSTEM_ERROR. */
void device_open(struct device *device, int mtu);

/* Frames that this machine sent into the device so fast that they were dropped before anybody
 * could read them. */
uint64_t device_unread(struct device *device);

#endif
