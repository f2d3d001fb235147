#include "frame.h"

#include <sys/socket.h>

#define ETHERNET_HEADER 14
#define IP4_HEADER 20
#define IP6_HEADER 40
#define UDP_HEADER 8
#define MOST_EXTENSIONS 16

enum { TYPE_IP4 = 0x0800, TYPE_IP6 = 0x86DD, TYPE_VLAN = 0x8100, TYPE_SERVICE_VLAN = 0x88A8 };
enum { HOP_BY_HOP = 0, IGMP = 2, ROUTING = 43, FRAGMENT = 44, ICMP6 = 58, DESTINATION = 60 };

static unsigned be16(const unsigned char *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

/* Ports and payload; p: behind the IP headers. */
static void read_transport(struct frame *frame, const unsigned char *p, const unsigned char *end)
{
    if (frame->protocol != PROTOCOL_UDP && frame->protocol != PROTOCOL_TCP)
        return;
    if (end - p < 4)
        return;
    frame->ports = true;
    frame->source_port = be16(p);
    frame->destination_port = be16(p + 2);
    if (frame->protocol == PROTOCOL_UDP && end - p >= UDP_HEADER) {
        frame->payload = p + UDP_HEADER;
        frame->payload_length = (size_t)(end - p) - UDP_HEADER;
    }
}

static void read_ip4(struct frame *frame, const unsigned char *p, const unsigned char *end)
{
    ptrdiff_t header = (*p & 15) * 4;
    if (*p >> 4 != 4 || header < IP4_HEADER || end - p < header)
        return;
    frame->ip = true;
    frame->family = AF_INET;
    frame->protocol = p[9];
    frame->signalling = frame->protocol == IGMP;
    frame->ip_length = be16(p + 2);
    frame->source = p + 12;
    frame->destination = p + 16;
    bool first_piece = (be16(p + 6) & 0x1FFF) == 0;
    if (first_piece)
        read_transport(frame, p + header, end);
}

/* Neighbour discovery is 133 to 137; reports of multicast listeners are 130 to 132 and 143. */
static bool is_signalling(unsigned type)
{
    return (type >= 130 && type <= 137) || type == 143;
}

static void read_ip6(struct frame *frame, const unsigned char *p, const unsigned char *end)
{
    if (*p >> 4 != 6 || end - p < IP6_HEADER)
        return;
    frame->ip = true;
    frame->family = AF_INET6;
    frame->protocol = p[6];
    frame->ip_length = IP6_HEADER + be16(p + 4);
    frame->source = p + 8;
    frame->destination = p + 24;
    p += IP6_HEADER;
    for (int i = 0; i < MOST_EXTENSIONS; i++) {
        bool fragment = frame->protocol == FRAGMENT;
        if (!fragment && frame->protocol != HOP_BY_HOP && frame->protocol != ROUTING &&
            frame->protocol != DESTINATION)
            break;
        if (end - p < 8)
            return;
        ptrdiff_t length = fragment ? 8 : (p[1] + 1) * 8;
        frame->protocol = p[0];
        if (end - p < length || (fragment && be16(p + 2) >> 3 != 0))
            return;
        p += length;
    }
    frame->signalling = frame->protocol == ICMP6 && end - p >= 1 && is_signalling(*p);
    read_transport(frame, p, end);
}

struct frame frame_read(const unsigned char *bytes, size_t length)
{
    struct frame frame = {.ip = false};
    const unsigned char *end = bytes + length, *p = bytes + ETHERNET_HEADER;
    if (length <= ETHERNET_HEADER)
        return frame;
    unsigned type = be16(p - 2);
    while ((type == TYPE_VLAN || type == TYPE_SERVICE_VLAN) && end - p > 4) {
        type = be16(p + 2);
        p += 4;
    }
    if (type == TYPE_IP4 && end - p >= IP4_HEADER)
        read_ip4(&frame, p, end);
    else if (type == TYPE_IP6)
        read_ip6(&frame, p, end);
    return frame;
}
