#include "device.h"

#include "../../lib/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define TUN_PATH "/dev/net/tun"
#define PLACES 10000 /* frames that may wait to be read */

static enum failure kind_of(int error)
{
    return error == EPERM || error == EACCES ? NOT_PERMITTED : SYSTEM_ERROR;
}

void device_parse(struct device *device, const char *option, const char *text)
{
    const char *slash = strrchr(text, '/');
    if (slash == NULL || slash == text || slash[1] == 0)
        fail(BAD_PARAMETER,
             "--%s must be NETNS/IFNAME ('-' for the namespace this runs in), not '%.64s'", option,
             text);
    size_t length = (size_t)(slash - text);
    const char *name = slash + 1;
    if (length >= sizeof device->netns)
        fail(BAD_PARAMETER, "--%s: the namespace's name is longer than %d characters", option,
             NAMESPACE_LIMIT - 1);
    if (*text != '/' && memchr(text, '/', length))
        fail(BAD_PARAMETER,
             "--%s: '%.*s' is no namespace's name: give one of `ip netns`, or a path from /",
             option, (int)length, text);
    if (strlen(name) >= IFNAMSIZ)
        fail(BAD_PARAMETER, "--%s: the device's name '%.64s' is longer than %d characters", option,
             name, IFNAMSIZ - 1);
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strpbrk(name, "%: \t\n"))
        fail(BAD_PARAMETER, "--%s: '%s' cannot be a device's name", option, name);
    memcpy(device->netns, text, length);
    device->netns[length] = 0;
    strcpy(device->name, name);
}

/* Where the namespace is to be found; NULL: it is our own. */
static const char *path_of(const struct device *device, char *path, size_t size)
{
    if (strcmp(device->netns, "-") == 0)
        return NULL;
    snprintf(path, size, "%s%s", *device->netns == '/' ? "" : "/run/netns/", device->netns);
    return path;
}

static void enter(const struct device *device, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        fail(BAD_PARAMETER, "there is no network namespace '%s' (%s): `ip netns add` makes one",
             device->netns, path);
    if (fd < 0)
        fail(kind_of(errno), "cannot open the network namespace %s: %s", path, strerror(errno));
    if (setns(fd, CLONE_NEWNET) != 0)
        fail(errno == EINVAL ? BAD_PARAMETER : kind_of(errno),
             "cannot enter the network namespace %s: %s%s", path, strerror(errno),
             errno == EPERM ? "; run rail-wire as root, or inside `unshare -Urnm`" : "");
    close(fd);
}

static int open_tun(void)
{
    int fd = open(TUN_PATH, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
        fail(SYSTEM_ERROR, "there is no " TUN_PATH " (%s): load the kernel module tun",
             strerror(errno));
    fail(kind_of(errno), "cannot open " TUN_PATH ": %s; its owner may let others use it",
         strerror(errno));
}

static void create(struct device *device)
{
    struct ifreq request = {.ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_TUN_EXCL)};
    strcpy(request.ifr_name, device->name);
    device->fd = open_tun();
    if (ioctl(device->fd, TUNSETIFF, &request) == 0)
        return;
    int error = errno;
    if (error == EBUSY || error == EEXIST)
        fail(BAD_PARAMETER, "there is a device '%s' in %s already: choose another name",
             device->name, device->netns);
    fail(kind_of(error), "cannot make the device '%s' in %s: %s%s", device->name, device->netns,
         strerror(error), error == EPERM ? "; it takes root, or `unshare -Urnm`" : "");
}

static void add_attribute(struct nlmsghdr *message, unsigned short type, uint32_t value)
{
    struct rtattr *attribute = (void *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));
    attribute->rta_type = type;
    attribute->rta_len = RTA_LENGTH(sizeof value);
    memcpy(RTA_DATA(attribute), &value, sizeof value);
    message->nlmsg_len = NLMSG_ALIGN(message->nlmsg_len) + RTA_LENGTH(sizeof value);
}

/* Sends the request to the namespace's kernel; returns 0 or the error that it answers with. */
static int ask(struct nlmsghdr *message)
{
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
        char rest[512];
    } answer = {.error.error = -EPROTO};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    bool answered = fd >= 0 && send(fd, message, message->nlmsg_len, 0) >= 0 &&
                recv(fd, &answer, sizeof answer, 0) >= (ssize_t)NLMSG_LENGTH(sizeof answer.error);
    int error = answered ? -answer.error.error : errno;
    if (fd >= 0)
        close(fd);
    return error;
}

/* By netlink, since ioctl refuses the queue's length to a user namespace's root. */
static void bring_up(const struct device *device, int mtu)
{
    struct {
        struct nlmsghdr header;
        struct ifinfomsg link;
        char attributes[64];
    } request = {
        .header = {.nlmsg_len = NLMSG_LENGTH(sizeof request.link),
                   .nlmsg_type = RTM_NEWLINK,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
        .link = {.ifi_index = (int)if_nametoindex(device->name),
                 .ifi_flags = IFF_UP,
                 .ifi_change = IFF_UP},
    };
    add_attribute(&request.header, IFLA_MTU, (uint32_t)mtu);
    add_attribute(&request.header, IFLA_TXQLEN, PLACES);
    int error = ask(&request.header);
    if (error)
        fail(kind_of(error), "cannot bring up %s/%s with an MTU of %d: %s", device->netns,
             device->name, mtu, strerror(error));
}

void device_open(struct device *device, int mtu)
{
    char place[NAMESPACE_LIMIT + 16];
    const char *path = path_of(device, place, sizeof place);
    int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (home < 0)
        fail(SYSTEM_ERROR, "cannot open our own network namespace: %s", strerror(errno));
    if (path)
        enter(device, path);
    create(device);
    bring_up(device, mtu);
    /* Open, it goes on showing the namespace that it was opened in. */
    device->statistics = fopen("/proc/thread-self/net/dev", "re");
    if (device->statistics == NULL)
        fail(SYSTEM_ERROR, "cannot open /proc/thread-self/net/dev: %s", strerror(errno));
    if (path && setns(home, CLONE_NEWNET) != 0)
        fail(SYSTEM_ERROR, "cannot come back from %s: %s", path, strerror(errno));
    close(home);
}

uint64_t device_unread(struct device *device)
{
    char line[512];
    rewind(device->statistics);
    while (fgets(line, sizeof line, device->statistics)) {
        unsigned long long dropped;
        char *name = line + strspn(line, " ");
        char *colon = strchr(name, ':');
        if (colon == NULL || (size_t)(colon - name) != strlen(device->name) ||
            memcmp(name, device->name, strlen(device->name)) != 0)
            continue;
        /* Eight columns of reception, then packets, bytes and errors of sending. */
        if (sscanf(colon + 1, "%*u%*u%*u%*u%*u%*u%*u%*u%*u%*u%*u%llu", &dropped) == 1)
            device->unread = dropped;
    }
    return device->unread;
}
