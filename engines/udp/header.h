/* What the datagrams of a stream carry, as far as there is room: token, sequence number and send
 * time (lib/packet.h) from 24 bytes, token and number from 16, the number from 8, its low 32 bits
 * from 4. Smaller ones are only counted. */
#ifndef RAIL_UDP_HEADER_H
#define RAIL_UDP_HEADER_H

#include "../lib/packet.h"

#include <stdbool.h>
#include <stddef.h>

/* Set in the number of a datagram of the omitted part, which has a numbering of its own. */
#define OMITTED_FLAG (1ull << 63)

enum header { COUNTED, LOW_NUMBER, NUMBER, TOKEN_NUMBER, FULL };

static inline enum header header_of(size_t size)
{
    return size >= PACKET_HEADER ? FULL
           : size >= 16          ? TOKEN_NUMBER
           : size >= 8           ? NUMBER
           : size >= 4           ? LOW_NUMBER
                                 : COUNTED;
}

/* Its token stays from datagram to datagram. */
static inline void header_begin(unsigned char *packet, enum header header, uint64_t token)
{
    if (header >= TOKEN_NUMBER)
        put_be64(packet, token);
}

static inline void header_stamp(unsigned char *packet, enum header header, uint64_t number,
                                uint64_t time)
{
    if (header == FULL) {
        packet_stamp(packet, number, time);
    } else if (header >= NUMBER) {
        put_be64(packet + (header == TOKEN_NUMBER ? 8 : 0), number);
    } else if (header == LOW_NUMBER) {
        uint32_t low = htobe32((uint32_t)number);
        memcpy(packet, &low, sizeof low);
    }
}

/* The sequence number; next: the one that is due, which gives the high bits of one that has only
 * low bits. False for what is no datagram of ours. */
static inline bool header_read(const unsigned char *packet, enum header header, uint64_t token,
                               uint64_t next, uint64_t *number)
{
    if (header >= TOKEN_NUMBER) {
        *number = get_be64(packet + 8);
        return get_be64(packet) == token;
    }
    if (header == LOW_NUMBER) {
        uint32_t low;
        memcpy(&low, packet, sizeof low);
        int64_t ahead = (int32_t)(be32toh(low) - (uint32_t)next);
        *number = next + (uint64_t)ahead;
        return ahead >= 0 || next >= (uint64_t)-ahead;
    }
    *number = header == NUMBER ? get_be64(packet) : next;
    return true;
}

#endif
