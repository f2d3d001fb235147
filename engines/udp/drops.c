#include "drops.h"

#include "../lib/failure.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>

/* Buffers that the kernel has dropped at this socket since it was opened. */
static uint32_t socket_drops(int fd)
{
    uint32_t counters[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof counters;
    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, counters, &length) != 0)
        fail(SYSTEM_ERROR, "cannot read the socket's drops, as Linux 4.12 and later count them: %s",
             strerror(errno));
    return counters[SK_MEMINFO_DROPS];
}

void drops_begin(struct drops *drops, int fd, bool gro, uint64_t segments)
{
    *drops = (struct drops){.fd = fd, .gro = gro, .segments = segments};
    drops->before = socket_drops(fd);
}

void drops_note_omitted(struct drops *drops, uint32_t counted)
{
    drops->before = counted;
}

void drops_begin_again(struct drops *drops, uint32_t counted, uint64_t lost)
{
    uint32_t between = counted - drops->before;
    uint64_t buffers = drops->gro ? (lost + drops->segments - 1) / drops->segments : lost;
    drops->before = counted - (buffers < between ? (uint32_t)buffers : between);
}

/* Is it exactly what the sender handed over in one call? The last call may be a short one. */
void drops_note_message(struct drops *drops, uint64_t number, uint64_t count)
{
    drops->largest = count > drops->largest ? count : drops->largest;
    if (count == drops->segments && (count == 1 || number % count == 0))
        return;
    drops->odd += count < drops->segments && number % drops->segments == 0 ? 1 : 2;
    drops->odd_end = number + count;
}

/* With GRO all buffers were alike if everything that arrived was: of one datagram each, or each
 * exactly one of the sender's calls. */
bool drops_count(const struct drops *drops, uint64_t sent, uint64_t lost, uint64_t *count)
{
    uint64_t calls = drops->segments;
    bool last_is_short = drops->odd == 1 && drops->odd_end == sent;
    *count = (uint32_t)(socket_drops(drops->fd) - drops->before);
    /* A buffer holds a datagram or more: if they are as many, it was one each. */
    if (!drops->gro || *count == 0 || *count == lost || drops->largest == 1)
        return true;
    if (drops->largest == 0 || (drops->odd > 0 && !last_is_short))
        return false;
    if (*count == (lost + calls - 1) / calls) { /* every call that is missing */
        *count = lost;
        return true;
    }
    *count *= calls;
    /* Else the short one is missing, nobody knows where. */
    return *count <= lost && lost % calls == 0;
}
