/* An interface in a network namespace, and its frames; it is gone when this process is, however
 * that ends. */
#ifndef RAIL_WIRE_DEVICE_H
#define RAIL_WIRE_DEVICE_H

#include "packet.h"

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define NAMESPACE_LIMIT 256 /* longest name or path, with its final zero */

/* What the interface is: a TAP device, or a veth whose other end has a raw socket. */
enum device_kind { TAP_OR_PACKET, TAP, PACKET };

/* One end of the wire. */
struct device {
    char netns[NAMESPACE_LIMIT]; /* below /run/netns, a path with a slash in front, or "-": ours */
    char name[IFNAMSIZ];
    const char *end; /* "left" or "right" */
    enum device_kind kind;
    int fd; /* readable while a frame waits */
    FILE *statistics;
    uint64_t unread; /* as last seen there */
    struct packet_ring ring; /* PACKET */
    int links;               /* PACKET: a link_socket() of the relay's namespace */
};

/* Reads "NETNS/IFNAME"; end: the option, for the message of fail(BAD_PARAMETER). */
void device_parse(struct device *device, const char *end, const char *text);

/* The kind that this machine allows, where either will do. */
enum device_kind device_kind_here(void);
const char *device_kind_name(enum device_kind kind);

/* A network namespace for the relay's ends of veth pairs, without a name: it ends, and they with it,
 * when this process does. Returns its descriptor or fails. */
int device_relay_namespace(void);

/* Makes the device, with frames as they are on a wire: no offload, no super-packets. Sets its MTU
 * and brings it up. place: the relay's namespace, if the kind is PACKET. Fails with NOT_PERMITTED,
 * BAD_PARAMETER or SYSTEM_ERROR. */
void device_open(struct device *device, enum device_kind kind, int place, int mtu);

/* Takes a frame from the device and returns its length; -1: EAGAIN if there is none, EMSGSIZE if it
 * took one that cannot be passed on, something else if the device is gone. */
ssize_t device_read(struct device *device, unsigned char *bytes, size_t room);

/* Hands a frame to the device; false with errno set if it doesn't take it. */
bool device_write(const struct device *device, const unsigned char *bytes, size_t length);

/* True if that errno says that the device was removed. */
bool device_is_gone(int error);

/* Frames that this machine sent into the device so fast that they were dropped before anybody
 * could read them. */
uint64_t device_unread(struct device *device);

/* Removes it at once, and not only when the process has ended. */
void device_close(struct device *device);

#endif
