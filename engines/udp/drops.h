/* Datagrams dropped at a socket, out of what the kernel counts and of how they came. */
#ifndef RAIL_UDP_DROPS_H
#define RAIL_UDP_DROPS_H

#include <stdbool.h>
#include <stdint.h>

/* One stream's. */
struct drops {
    int fd;
    bool gro;               /* the kernel counts buffers, each of any number of datagrams */
    uint32_t before;        /* counted before what counts, as far as that has come */
    uint64_t segments;      /* datagrams that the sender hands over in one call */
    uint64_t largest;       /* datagrams in the largest message */
    /* Messages that weren't one of the sender's calls; where the last ended. */
    uint64_t odd, odd_end;
};

void drops_begin(struct drops *drops, int fd, bool gro, uint64_t segments);

/* A message of the omitted part came when the kernel had counted so many. */
void drops_note_omitted(struct drops *drops, uint32_t counted);

/* Likewise the first that counts: those are left out which were dropped before the first of `lost`
 * datagrams that count and were sent before it. */
void drops_begin_again(struct drops *drops, uint32_t counted, uint64_t lost);

/* With GRO, of each message: so many datagrams, the first of this number. */
void drops_note_message(struct drops *drops, uint64_t number, uint64_t count);

/* Of `sent` datagrams `lost` did not arrive: so many of them were dropped at the socket. False
 * where that cannot be known. */
bool drops_count(const struct drops *drops, uint64_t sent, uint64_t lost, uint64_t *count);

#endif
