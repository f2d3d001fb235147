/* Any bytes as a slot of the ring that rail-wire's raw socket has: what is taken out of it lies
 * within it, and fits. */
#include "../tools/wire/packet.c"

#include "attempt.h"

#define SLOT 4096
#define ROOM 2048 /* less than a slot has */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static _Alignas(16) unsigned char memory[SLOT];
    unsigned char frame[ROOM];
    struct packet_ring ring = {
        .memory = memory, .slot = SLOT, .slots_per_block = 1, .slots = 1, .fd = -1};
    memset(memory, 0, sizeof memory);
    memcpy(memory, data, size < SLOT ? size : SLOT);
    ssize_t length = packet_read(&ring, frame, sizeof frame);
    must(length == -1 || (length >= ETH_HLEN && length <= ROOM));
    must(packet_read(&ring, frame, sizeof frame) == -1 && errno == EAGAIN);
    return 0;
}
