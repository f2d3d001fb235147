#include "tap.h"

#include "refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TUN_PATH "/dev/net/tun"

bool tap_possible(void)
{
    int fd = open(TUN_PATH, O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int open_tun(void)
{
    int fd = open(TUN_PATH, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
        fail(SYSTEM_ERROR, "there is no " TUN_PATH " (%s): load the kernel module tun, or give "
                           "--device packet",
             strerror(errno));
    fail(failure_of(errno), "cannot open " TUN_PATH ": %s; its owner may let others use it, and "
                            "--device packet does without",
         strerror(errno));
}

int tap_open(const char *netns, const char *name)
{
    struct ifreq request = {.ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_TUN_EXCL)};
    strcpy(request.ifr_name, name);
    int fd = open_tun();
    if (ioctl(fd, TUNSETIFF, &request) != 0)
        device_refused(netns, name, errno);
    return fd;
}
