/* Waits for the slot of the next call while a notice of a refused one moves it, and says whether it
 * is free. The kernel's notices come from here, one at each look. */
#include "zerocopy.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    static const uint32_t numbers[] = {ZEROCOPY_SLOTS, 1}; /* the refused call, then the second */
    static size_t looks, notices;
    (void)fd, (void)flags;
    if (looks++ % 2 || notices == sizeof numbers / sizeof *numbers) {
        errno = EAGAIN;
        return -1;
    }
    uint32_t number = numbers[notices++];
    struct sock_extended_err notice = {
        .ee_origin = SO_EE_ORIGIN_ZEROCOPY, .ee_info = number, .ee_data = number};
    struct cmsghdr *control = CMSG_FIRSTHDR(message);
    control->cmsg_level = SOL_IP;
    control->cmsg_type = IP_RECVERR;
    control->cmsg_len = CMSG_LEN(sizeof notice);
    memcpy(CMSG_DATA(control), &notice, sizeof notice);
    message->msg_controllen = CMSG_SPACE(sizeof notice);
    return 0;
}

int main(void)
{
    struct zerocopy zerocopy = {.fd = -1, .next = ZEROCOPY_SLOTS, .under_way = 3};
    bool waited = zerocopy_wait(&zerocopy);
    bool is_free = !(zerocopy.under_way & 1ull << zerocopy.next % ZEROCOPY_SLOTS);
    printf("%s, call %u, %s\n", waited ? "waited" : "gave up", (unsigned)zerocopy.next,
           is_free ? "free" : "under way");
    return 0;
}
