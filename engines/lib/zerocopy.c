#include "zerocopy.h"

#include "clock.h"
#include "report.h"
#include "sockopts.h"

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define LONGEST_NS (10 * NANOSECONDS)

void zerocopy_begin(struct zerocopy *zerocopy, int fd)
{
    uint64_t cookie = 0;
    socklen_t size = sizeof cookie;
    set_option(fd, SOL_SOCKET, SO_ZEROCOPY, 1, "zero-copy sending");
    getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size);
    if (cookie != zerocopy->cookie)
        *zerocopy = (struct zerocopy){.cookie = cookie};
    zerocopy->fd = fd;
    zerocopy->handed = zerocopy->completed = zerocopy->copied = 0;
}

void zerocopy_add(struct zerocopy *zerocopy)
{
    zerocopy->under_way |= 1ull << zerocopy->next++ % ZEROCOPY_SLOTS;
    zerocopy->handed++;
}

/* One notice covers a range of calls; those from `next` on were refused after all. */
static void take_notice(struct zerocopy *zerocopy, const struct cmsghdr *control)
{
    struct sock_extended_err notice;
    bool is_error = (control->cmsg_level == SOL_IP && control->cmsg_type == IP_RECVERR) ||
                (control->cmsg_level == SOL_IPV6 && control->cmsg_type == IPV6_RECVERR);
    if (!is_error || control->cmsg_len < CMSG_LEN(sizeof notice))
        return;
    memcpy(&notice, CMSG_DATA(control), sizeof notice);
    if (notice.ee_origin != SO_EE_ORIGIN_ZEROCOPY)
        return;
    uint32_t calls = notice.ee_data - notice.ee_info + 1;
    uint32_t refused = notice.ee_data + 1 - zerocopy->next;
    for (uint32_t i = 0; i < calls && i < ZEROCOPY_SLOTS; i++)
        zerocopy->under_way &= ~(1ull << (notice.ee_data - i) % ZEROCOPY_SLOTS);
    if (refused > 0 && refused <= calls) {
        zerocopy->next += refused;
        calls -= refused;
    }
    zerocopy->completed += calls;
    if (notice.ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
        zerocopy->copied += calls;
}

void zerocopy_reap(struct zerocopy *zerocopy)
{
    for (;;) {
        _Alignas(struct cmsghdr) char space[256];
        struct msghdr message = {.msg_control = space, .msg_controllen = sizeof space};
        if (recvmsg(zerocopy->fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
            return;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
            take_notice(zerocopy, c);
    }
}

/* A notice of refused calls moves the next one's slot. */
static bool next_is_free(const struct zerocopy *zerocopy)
{
    return !(zerocopy->under_way & 1ull << zerocopy->next % ZEROCOPY_SLOTS);
}

bool zerocopy_wait(struct zerocopy *zerocopy)
{
    uint64_t limit = 0;
    while (!next_is_free(zerocopy)) {
        zerocopy_reap(zerocopy);
        if (next_is_free(zerocopy))
            return true;
        uint64_t now = now_ns();
        limit = limit ? limit : now + LONGEST_NS;
        if (now > limit)
            return false;
        poll(&(struct pollfd){.fd = zerocopy->fd}, 1, 1);
    }
    return true;
}

bool zerocopy_finish(struct zerocopy *zerocopy)
{
    uint64_t limit = now_ns() + LONGEST_NS;
    for (;;) {
        zerocopy_reap(zerocopy);
        if (zerocopy->completed >= zerocopy->handed)
            return true;
        if (now_ns() > limit)
            return false;
        poll(&(struct pollfd){.fd = zerocopy->fd}, 1, 1);
    }
}

void set_zerocopy_copied(struct result *result, uint64_t completed, uint64_t copied)
{
    static bool warned;
    if (completed == 0)
        return;
    result_set(result, "zerocopy_copied", (double)copied / (double)completed);
    if (copied > 0 && !warned)
        report_warning("zerocopy-copied", "client",
                       "the kernel copied data that it was given without copying, as it does on "
                       "loopback: this is not what zero-copy sending costs");
    warned = warned || copied > 0;
}
