#include "mark_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

bool mark_address(const char *name, size_t length, struct mark_address *address)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    if (length == 0 || length >= MARK_NAME_LIMIT || strspn(name, allowed) < length)
        return false;
    memset(address, 0, sizeof *address);
    address->un.sun_family = AF_UNIX;
    memcpy(address->un.sun_path + 1, name, length); /* after a zero: no file */
    address->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
    return true;
}

int mark_socket(void)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

bool mark_connect(int fd, const struct mark_address *address)
{
    static const struct timeval limit = {.tv_sec = 2};
    int flags = fcntl(fd, F_GETFL), status;
    /* One that doesn't block is refused while others wait to be taken in: anybody could see to
     * that. The kernel lets those in first that have blocked for longest. */
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0)
        return false;
    while ((status = connect(fd, (const struct sockaddr *)&address->un, address->length)) != 0 &&
           errno == EINTR)
        ;
    return status == 0 && fcntl(fd, F_SETFL, flags) == 0;
}

bool mark_trusts(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && size == sizeof peer &&
           (peer.uid == geteuid() || peer.uid == 0);
}
