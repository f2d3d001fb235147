/* How a receiver waits for datagrams: the parameters receive and blocking. */
#ifndef RAIL_UDP_WAITING_H
#define RAIL_UDP_WAITING_H

#include "../lib/engine.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct waiting {
    int fd;
    struct mmsghdr *messages;
    int flags; /* of each call */
    bool nonblocking, adapts, polls;
    int looks;       /* before it sleeps */
    unsigned int sleeps; /* without having looked */
    uint64_t polled; /* ns spent looking in vain */
};

void waiting_prepare(struct waiting *waiting, const struct launch *launch, int fd,
                     struct mmsghdr *messages);

/* So many messages at most, as recvmmsg() says it; EAGAIN where nothing is there. */
int receive_now(struct waiting *waiting, unsigned int count);

/* Likewise; EAGAIN where nothing came for a while. */
int receive_soon(struct waiting *waiting, unsigned int count);

#endif
