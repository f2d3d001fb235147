/* Are packets stamped when they come, or only when they are read? One of our own shows it. */
#include "stamps.h"

#include "udp.h"

#include "../lib/clock.h"
#include "../lib/parameters.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LEFT_LYING_NS 1000000 /* before it is read */
#define PATIENCE_NS NANOSECONDS

bool is_stamped(const struct launch *launch)
{
    return udp_mode_of(launch)->traced && number_of(launch, "trace") > 0 &&
           strcmp(text_of(launch, "timestamp"), "kernel") == 0;
}

/* A socket that talks to itself over the loopback interface; -1 where that is not to be had. */
static int open_loop(void)
{
    struct sockaddr_in self = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof self;
    struct timeval patience = {.tv_usec = 100000};
    int on = 1, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&self, length) == 0 &&
        getsockname(fd, (struct sockaddr *)&self, &length) == 0 &&
        connect(fd, (struct sockaddr *)&self, length) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The stamp of the next packet, in ns since 1970; 0 if there is none. */
static uint64_t read_stamp(int fd)
{
    char scrap;
    struct timespec at;
    struct iovec part = {&scrap, sizeof scrap};
    union {
        struct cmsghdr aligned;
        unsigned char room[CMSG_SPACE(sizeof at)];
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    if (recvmsg(fd, &message, 0) < 0)
        return 0;
    struct cmsghdr *note = CMSG_FIRSTHDR(&message);
    if (note == NULL || note->cmsg_level != SOL_SOCKET || note->cmsg_type != SCM_TIMESTAMPNS)
        return 0;
    memcpy(&at, CMSG_DATA(note), sizeof at);
    return (uint64_t)at.tv_sec * NANOSECONDS + (uint64_t)at.tv_nsec;
}

void stamps_await(void)
{
    int fd = open_loop();
    uint64_t limit = now_ns() + PATIENCE_NS;
    bool stamped = fd < 0;
    while (!stamped && now_ns() < limit) {
        struct timespec lying = {.tv_nsec = LEFT_LYING_NS};
        if (send(fd, "", 1, 0) != 1)
            break; /* the interface is down: nothing to be found out */
        nanosleep(&lying, NULL);
        uint64_t read_at = wall_ns(), stamp = read_stamp(fd);
        if (stamp == 0)
            break;
        stamped = stamp + LEFT_LYING_NS / 2 < read_at;
    }
    if (fd >= 0)
        close(fd);
}
