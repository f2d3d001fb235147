/* How datagrams get to the kernel: one function for each way of sending. */
#ifndef RAIL_UDP_WRITER_H
#define RAIL_UDP_WRITER_H

#include "header.h"
#include "udp.h"

#include "../lib/zerocopy.h"

#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define BATCH_LIMIT 1024

/* One stream's. Datagrams that go alone or as segments of one send lie in one piece; those of a
 * batch have headers of their own and all one payload. Where the kernel doesn't copy it, there is
 * such a piece in each slot, and none is written to while it is under way. */
struct writer {
    int fd;
    const struct address *to; /* NULL: the socket is connected */
    enum header header;
    size_t size; /* of a datagram */
    unsigned int batch, segments;
    /* Hands over datagrams from this number on, `most` at most, with one send time: how many the
     * kernel took; or -1 with errno. */
    int (*put)(struct writer *, uint64_t number, uint64_t most, uint64_t stamp);
    struct zerocopy zerocopy;
    unsigned char *slots; /* NULL: the kernel copies */
    size_t slot_size;
    _Alignas(4096) unsigned char packet[LARGEST];
    struct mmsghdr messages[BATCH_LIMIT];
    struct iovec parts[BATCH_LIMIT][2];
    unsigned char headers[BATCH_LIMIT][PACKET_HEADER];
};

/* By the thread that sends, for its memory's sake. */
void writer_make(struct writer *writer, const struct launch *launch);

/* For a replication, whose token goes into each datagram. */
void writer_prepare(struct writer *writer, const struct launch *launch, uint64_t token, int fd,
                    const struct address *to);

/* How many datagrams go at once, at most. */
unsigned int writer_width(const struct writer *writer);

#endif
