/* Frames of an interface by a raw socket (packet(7)): what comes is in a ring that the kernel
 * writes into. */
#ifndef RAIL_WIRE_PACKET_H
#define RAIL_WIRE_PACKET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct packet_ring {
    int fd; /* readable while a frame waits */
    unsigned char *memory;
    size_t slot; /* bytes of each */
    size_t slots_per_block, slots, next;
    uint64_t dropped; /* for want of a slot, as last seen */
};

/* Opens one for the interface, of this thread's network namespace, with slots for that many frames
 * of this MTU but no more than 64 MiB. The interface's own sending isn't shown. Returns 0 or the
 * error. */
int packet_open(struct packet_ring *ring, const char *interface, int mtu, size_t frames);

/* Takes the oldest frame, with its VLAN tag, and returns its length; -1: EAGAIN if there is none,
 * EMSGSIZE if one was taken that isn't whole or lacks its check sums. */
ssize_t packet_read(struct packet_ring *ring, unsigned char *bytes, size_t room);

/* Frames that were dropped for want of a slot so far. */
uint64_t packet_dropped(struct packet_ring *ring);

#endif
