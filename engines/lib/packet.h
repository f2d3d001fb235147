/* The header of every test datagram: token, sequence number and send time, 8 bytes each,
 * big-endian. */
#ifndef RAIL_PACKET_H
#define RAIL_PACKET_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define PACKET_HEADER 24

static inline void put_be64(unsigned char *out, uint64_t value)
{
    value = htobe64(value);
    memcpy(out, &value, sizeof value);
}

static inline uint64_t get_be64(const unsigned char *in)
{
    uint64_t value;
    memcpy(&value, in, sizeof value);
    return be64toh(value);
}

static inline void packet_stamp(unsigned char *packet, uint64_t number, uint64_t time)
{
    put_be64(packet + 8, number);
    put_be64(packet + 16, time);
}

#endif
