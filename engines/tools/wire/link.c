#include "link.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define FEATURE_WORDS 16 /* 32 features each; Linux 6 has two */

struct request {
    struct nlmsghdr header;
    struct ifinfomsg link;
    char attributes[256];
};

int link_socket(void)
{
    return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

static struct request request_of(unsigned short type, unsigned short flags)
{
    return (struct request){.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
                                       .nlmsg_type = type,
                                       .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags}};
}

static struct rtattr *add(struct request *request, unsigned short type, const void *data,
                          size_t size)
{
    size_t start = NLMSG_ALIGN(request->header.nlmsg_len);
    struct rtattr *attribute = (struct rtattr *)(void *)((char *)request + start);
    attribute->rta_type = type;
    attribute->rta_len = (unsigned short)RTA_LENGTH(size);
    if (size)
        memcpy(RTA_DATA(attribute), data, size);
    request->header.nlmsg_len = (uint32_t)(start + RTA_LENGTH(size));
    return attribute;
}

static void add_number(struct request *request, unsigned short type, int number)
{
    add(request, type, &number, sizeof number);
}

static void add_text(struct request *request, unsigned short type, const char *text)
{
    add(request, type, text, strlen(text) + 1);
}

/* What was added since is inside the attribute. */
static void close_nest(struct request *request, struct rtattr *nest)
{
    size_t end = (size_t)((char *)request - (char *)nest) + request->header.nlmsg_len;
    nest->rta_len = (unsigned short)end;
}

static int ask(int fd, const struct request *request)
{
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
        char rest[512];
    } answer = {.error.error = -EPROTO};
    if (send(fd, request, request->header.nlmsg_len, 0) < 0)
        return errno;
    if (recv(fd, &answer, sizeof answer, 0) < (ssize_t)NLMSG_LENGTH(sizeof answer.error))
        return EPROTO;
    return -answer.error.error;
}

int link_add_pair(int fd, const char *name, int mtu, int place, const char *peer, int peer_mtu)
{
    const struct ifinfomsg no_link = {0};
    struct request request = request_of(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    add_text(&request, IFLA_IFNAME, name);
    add_number(&request, IFLA_MTU, mtu);
    struct rtattr *information = add(&request, IFLA_LINKINFO, NULL, 0);
    add_text(&request, IFLA_INFO_KIND, "veth");
    struct rtattr *data = add(&request, IFLA_INFO_DATA, NULL, 0);
    struct rtattr *other = add(&request, VETH_INFO_PEER, &no_link, sizeof no_link);
    add_text(&request, IFLA_IFNAME, peer);
    add_number(&request, IFLA_MTU, peer_mtu);
    add_number(&request, IFLA_NET_NS_FD, place);
    close_nest(&request, other);
    close_nest(&request, data);
    close_nest(&request, information);
    return ask(fd, &request);
}

int link_set_up(int fd, const char *name, int mtu, int waiting)
{
    struct request request = request_of(RTM_NEWLINK, 0);
    request.link.ifi_flags = request.link.ifi_change = IFF_UP;
    add_text(&request, IFLA_IFNAME, name);
    add_number(&request, IFLA_MTU, mtu);
    add_number(&request, IFLA_TXQLEN, waiting);
    return ask(fd, &request);
}

int link_without_addresses(int fd, const char *name)
{
    const unsigned char mode = IN6_ADDR_GEN_MODE_NONE;
    struct request request = request_of(RTM_NEWLINK, 0);
    add_text(&request, IFLA_IFNAME, name);
    struct rtattr *families = add(&request, IFLA_AF_SPEC, NULL, 0);
    struct rtattr *six = add(&request, AF_INET6, NULL, 0);
    add(&request, IFLA_INET6_ADDR_GEN_MODE, &mode, sizeof mode);
    close_nest(&request, six);
    close_nest(&request, families);
    int error = ask(fd, &request);
    return error == EAFNOSUPPORT ? 0 : error; /* a kernel without IPv6 */
}

int link_without_offloads(int fd, const char *name)
{
    union {
        struct ethtool_gfeatures present;
        char space[sizeof(struct ethtool_gfeatures) +
                   FEATURE_WORDS * sizeof(struct ethtool_get_features_block)];
    } answer = {.present = {.cmd = ETHTOOL_GFEATURES, .size = FEATURE_WORDS}};
    union {
        struct ethtool_sfeatures wanted;
        char space[sizeof(struct ethtool_sfeatures) +
                   FEATURE_WORDS * sizeof(struct ethtool_set_features_block)];
    } change = {.wanted = {.cmd = ETHTOOL_SFEATURES}};
    struct ifreq request = {.ifr_data = (void *)&answer};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    if (ioctl(fd, SIOCETHTOOL, &request) != 0)
        return errno;
    uint32_t words = answer.present.size < FEATURE_WORDS ? answer.present.size : FEATURE_WORDS;
    change.wanted.size = answer.present.size;
    for (uint32_t i = 0; i < words; i++)
        change.wanted.features[i].valid = answer.present.features[i].available;
    request.ifr_data = (void *)&change;
    return ioctl(fd, SIOCETHTOOL, &request) < 0 ? errno : 0;
}

int link_delete(int fd, const char *name)
{
    struct request request = request_of(RTM_DELLINK, 0);
    add_text(&request, IFLA_IFNAME, name);
    return ask(fd, &request);
}
