/* What an Ethernet frame carries, as far as loss and its records need it. */
#ifndef RAIL_WIRE_FRAME_H
#define RAIL_WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17

struct frame {
    bool ip;          /* IPv4 or IPv6 with a whole header ... */
    bool signalling;  /* ... but neighbour discovery or group membership: the kernel's own */
    int family;       /* AF_INET or AF_INET6 */
    unsigned protocol; /* behind IPv6's extension headers */
    size_t ip_length; /* as the IP header says, itself included */
    const unsigned char *source, *destination; /* addresses */
    bool ports;                                /* TCP or UDP, and their ports are there */
    unsigned source_port, destination_port;
    const unsigned char *payload; /* of UDP, up to the frame's end; NULL: none */
    size_t payload_length;
};

/* Reads a frame of any bytes whatever; pointers are into it. VLAN tags are skipped. */
struct frame frame_read(const unsigned char *bytes, size_t length);

/* The bytes that a frame takes on an Ethernet: padded to 60, and with check sum, preamble and gap
 * between frames 24 more. */
static inline size_t frame_on_wire(size_t length)
{
    return (length < 60 ? 60 : length) + 24;
}

#endif
