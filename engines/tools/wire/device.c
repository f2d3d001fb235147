#include "device.h"

#include "link.h"
#include "refusal.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OWN_NAMESPACE "/proc/thread-self/ns/net"
#define PLACES 10000        /* frames that may wait to be read */
#define RELAY_END_MTU 65535 /* the longest that a veth can have: the other end's counts */

void device_parse(struct device *device, const char *end, const char *text)
{
    const char *slash = strrchr(text, '/');
    if (slash == NULL || slash == text || slash[1] == 0)
        fail(BAD_PARAMETER,
             "--%s must be NETNS/IFNAME ('-' for the namespace this runs in), not '%.64s'", end,
             text);
    size_t length = (size_t)(slash - text);
    const char *name = slash + 1;
    if (length >= sizeof device->netns)
        fail(BAD_PARAMETER, "--%s: the namespace's name is longer than %d characters", end,
             NAMESPACE_LIMIT - 1);
    if (*text != '/' && memchr(text, '/', length))
        fail(BAD_PARAMETER,
             "--%s: '%.*s' is no namespace's name: give one of `ip netns`, or a path from /",
             end, (int)length, text);
    if (strlen(name) >= IFNAMSIZ)
        fail(BAD_PARAMETER, "--%s: the device's name '%.64s' is longer than %d characters", end,
             name, IFNAMSIZ - 1);
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strpbrk(name, "%: \t\n"))
        fail(BAD_PARAMETER, "--%s: '%s' cannot be a device's name", end, name);
    memcpy(device->netns, text, length);
    device->netns[length] = 0;
    strcpy(device->name, name);
    device->end = end;
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
        fail(failure_of(errno), "cannot open the network namespace %s: %s", path, strerror(errno));
    if (setns(fd, CLONE_NEWNET) != 0)
        fail(errno == EINVAL ? BAD_PARAMETER : failure_of(errno),
             "cannot enter the network namespace %s: %s%s", path, strerror(errno),
             errno == EPERM ? "; run rail-wire as root, or inside `unshare -Urnm`" : "");
    close(fd);
}

/* Fails if something about the device did not succeed. */
static void check(const struct device *device, int error, const char *what)
{
    if (error)
        fail(failure_of(error), "cannot %s %s/%s: %s%s", what, device->netns, device->name,
             strerror(error), remedy_of(error));
}

static int own_namespace(void)
{
    int fd = open(OWN_NAMESPACE, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail(SYSTEM_ERROR, "cannot open our own network namespace: %s", strerror(errno));
    return fd;
}

static void enter_own(int fd)
{
    if (setns(fd, CLONE_NEWNET) != 0)
        fail(SYSTEM_ERROR, "cannot enter a network namespace of our own: %s", strerror(errno));
}

int device_relay_namespace(void)
{
    int home = own_namespace();
    if (unshare(CLONE_NEWNET) != 0)
        fail(failure_of(errno), "cannot make a network namespace for the relay: %s%s",
             strerror(errno),
             errno == EPERM ? "; run rail-wire as root, or inside `unshare -Urnm`" : "");
    int place = own_namespace();
    enter_own(home);
    close(home);
    return place;
}

enum device_kind device_kind_here(void)
{
    return tap_possible() ? TAP : PACKET;
}

const char *device_kind_name(enum device_kind kind)
{
    return kind == PACKET ? "packet" : "tap";
}

/* The pair's other end is in `place`, where this thread is afterwards. */
static void open_pair(struct device *device, int links, int place, int mtu)
{
    int error = link_add_pair(links, device->name, mtu, place, device->end, RELAY_END_MTU);
    if (error)
        device_refused(device->netns, device->name, error);
    check(device, link_without_offloads(links, device->name), "turn off the offloads of");
    enter_own(place);
    device->links = link_socket();
    if (device->links < 0)
        fail(SYSTEM_ERROR, "cannot open a netlink socket: %s", strerror(errno));
    check(device, link_without_addresses(device->links, device->end), "set up the relay's end of");
    error = link_set_up(device->links, device->end, RELAY_END_MTU, PLACES);
    check(device, error, "bring up the relay's end of");
    check(device, packet_open(&device->ring, device->end, mtu, PLACES), "open a raw socket for");
    device->fd = device->ring.fd;
}

void device_open(struct device *device, enum device_kind kind, int place, int mtu)
{
    char space[NAMESPACE_LIMIT + 16];
    const char *path = path_of(device, space, sizeof space);
    int home = own_namespace();
    if (path)
        enter(device, path);
    int links = link_socket();
    /* Open, it goes on showing the namespace that it was opened in. */
    device->statistics = fopen("/proc/thread-self/net/dev", "re");
    if (links < 0 || device->statistics == NULL)
        fail(SYSTEM_ERROR, "cannot open a netlink socket and /proc/thread-self/net/dev: %s",
             strerror(errno));
    device->kind = kind;
    if (kind == TAP)
        device->fd = tap_open(device->netns, device->name);
    else
        open_pair(device, links, place, mtu);
    check(device, link_set_up(links, device->name, mtu, PLACES), "set the MTU of and bring up");
    close(links);
    if (path || kind == PACKET)
        enter_own(home);
    close(home);
}

ssize_t device_read(struct device *device, unsigned char *bytes, size_t room)
{
    return device->kind == PACKET ? packet_read(&device->ring, bytes, room)
                                  : read(device->fd, bytes, room);
}

bool device_write(const struct device *device, const unsigned char *bytes, size_t length)
{
    return (device->kind == PACKET ? send(device->fd, bytes, length, 0)
                                   : write(device->fd, bytes, length)) == (ssize_t)length;
}

bool device_is_gone(int error)
{
    return error == EBADFD || error == ENETDOWN || error == ENXIO || error == ENODEV;
}

void device_close(struct device *device)
{
    if (device->kind == PACKET)
        link_delete(device->links, device->end);
}

/* What the interface itself dropped of what it was given to send. */
static uint64_t unsent(struct device *device)
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

uint64_t device_unread(struct device *device)
{
    return unsent(device) + (device->kind == PACKET ? packet_dropped(&device->ring) : 0);
}
