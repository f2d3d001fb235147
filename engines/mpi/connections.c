#include "connections.h"

#include <string.h>

#define DESCRIPTORS 4096 /* that are looked at */

static bool is_stream(int fd)
{
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

static bool is_internet(const struct address *address)
{
    return address->any.sa_family == AF_INET || address->any.sa_family == AF_INET6;
}

void connections_read(struct connections *connections)
{
    memset(connections, 0, sizeof *connections);
    for (int fd = 0; fd < DESCRIPTORS && connections->count < CONNECTIONS; fd++) {
        struct address other;
        if (is_stream(fd) && has_peer(fd, &other) && is_internet(&other))
            connections->list[connections->count++] =
                (struct connection){local_address(fd), other};
    }
}

static bool same_end(const struct address *a, const struct address *b)
{
    return same_host(a, b) && address_port(a) == address_port(b);
}

static bool is_mirrored(const struct connection *connection, const struct connections *others)
{
    for (uint32_t i = 0; i < others->count && i < CONNECTIONS; i++)
        if (same_end(&connection->own, &others->list[i].other) &&
            same_end(&connection->other, &others->list[i].own))
            return true;
    return false;
}

uint64_t connections_between(const struct connections *first, const struct connections *second)
{
    uint64_t between = 0;
    for (uint32_t i = 0; i < first->count && i < CONNECTIONS; i++)
        if (is_mirrored(&first->list[i], second))
            between |= UINT64_C(1) << i;
    return between;
}
