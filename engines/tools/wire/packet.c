#include "packet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define BLOCK ((size_t)128 << 10) /* of whole slots; the longest frame has room in it */
#define MOST_BLOCKS 512
#define BEFORE_FRAME 128 /* bytes of a slot before a frame, and for the tags that it may have */
#define SENDING (4 << 20) /* bytes that may be on their way to the other host's protocols */
/* TPACKET_ALIGN without its sign */
#define ALIGNED(size) (((size) + 15) / 16 * 16)
#define ADDRESSES 12 /* bytes of a frame before its VLAN tag */

static int set(int fd, int option, int value)
{
    return setsockopt(fd, SOL_PACKET, option, &value, sizeof value);
}

static int make_ring(struct packet_ring *ring, int mtu, size_t frames)
{
    ring->slot = ALIGNED((size_t)mtu + BEFORE_FRAME);
    ring->slots_per_block = BLOCK / ring->slot;
    size_t blocks = (frames + ring->slots_per_block - 1) / ring->slots_per_block;
    if (blocks > MOST_BLOCKS)
        blocks = MOST_BLOCKS;
    ring->slots = blocks * ring->slots_per_block;
    const struct tpacket_req request = {.tp_block_size = BLOCK,
                                        .tp_block_nr = (unsigned)blocks,
                                        .tp_frame_size = (unsigned)ring->slot,
                                        .tp_frame_nr = (unsigned)ring->slots};
    if (set(ring->fd, PACKET_VERSION, TPACKET_V2) != 0 ||
        setsockopt(ring->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) != 0)
        return errno;
    void *memory = mmap(NULL, blocks * BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
    if (memory == MAP_FAILED)
        return errno;
    ring->memory = memory;
    return 0;
}

int packet_open(struct packet_ring *ring, const char *interface, int mtu, size_t frames)
{
    *ring = (struct packet_ring){.fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
    if (ring->fd < 0)
        return errno;
    struct ifreq request = {0};
    memcpy(request.ifr_name, interface, strlen(interface) + 1);
    if (ioctl(ring->fd, SIOCGIFINDEX, &request) != 0)
        return errno;
    set(ring->fd, PACKET_IGNORE_OUTGOING, 1); /* not before Linux 4.20 */
    /* Past the queueing discipline: a frame that the other end doesn't take is an error. */
    if (set(ring->fd, PACKET_QDISC_BYPASS, 1) != 0)
        return errno;
    const int sending = SENDING;
    if (setsockopt(ring->fd, SOL_SOCKET, SO_SNDBUFFORCE, &sending, sizeof sending) != 0)
        setsockopt(ring->fd, SOL_SOCKET, SO_SNDBUF, &sending, sizeof sending);
    int error = make_ring(ring, mtu, frames);
    if (error)
        return error;
    const struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                        .sll_protocol = htons(ETH_P_ALL),
                                        .sll_ifindex = request.ifr_ifindex};
    return bind(ring->fd, (const void *)&address, sizeof address) == 0 ? 0 : errno;
}

/* The kernel took the tag off before it wrote the frame down. */
static size_t put_tag(unsigned char *bytes, const struct tpacket2_hdr *header)
{
    unsigned type = header->tp_status & TP_STATUS_VLAN_TPID_VALID ? header->tp_vlan_tpid
                                                                  : ETH_P_8021Q;
    const uint16_t tag[2] = {htons((uint16_t)type), htons(header->tp_vlan_tci)};
    memcpy(bytes, tag, sizeof tag);
    return sizeof tag;
}

static ssize_t copy_frame(const struct packet_ring *ring, const struct tpacket2_hdr *header,
                          unsigned char *bytes, size_t room)
{
    const unsigned char *frame = (const unsigned char *)header + header->tp_mac;
    size_t length = header->tp_snaplen, tag = 0;
    if (length != header->tp_len || length < ETH_HLEN || length + sizeof(uint32_t) > room ||
        header->tp_mac + length > ring->slot || header->tp_status & TP_STATUS_CSUMNOTREADY) {
        errno = EMSGSIZE;
        return -1;
    }
    memcpy(bytes, frame, ADDRESSES);
    if (header->tp_status & TP_STATUS_VLAN_VALID)
        tag = put_tag(bytes + ADDRESSES, header);
    memcpy(bytes + ADDRESSES + tag, frame + ADDRESSES, length - ADDRESSES);
    return (ssize_t)(length + tag);
}

ssize_t packet_read(struct packet_ring *ring, unsigned char *bytes, size_t room)
{
    for (;;) {
        size_t block = ring->next / ring->slots_per_block;
        size_t slot = ring->next % ring->slots_per_block;
        unsigned char *place = ring->memory + block * BLOCK + slot * ring->slot;
        struct tpacket2_hdr *header = (struct tpacket2_hdr *)(void *)place;
        if (!(__atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) {
            errno = EAGAIN;
            return -1;
        }
        const struct sockaddr_ll *from = (void *)(place + ALIGNED(sizeof *header));
        bool ours = from->sll_pkttype == PACKET_OUTGOING;
        ssize_t length = ours ? 0 : copy_frame(ring, header, bytes, room);
        __atomic_store_n(&header->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
        ring->next = (ring->next + 1) % ring->slots;
        if (!ours)
            return length;
    }
}

uint64_t packet_dropped(struct packet_ring *ring)
{
    struct tpacket_stats since;
    socklen_t size = sizeof since;
    /* Asking sets it back to 0. */
    if (getsockopt(ring->fd, SOL_PACKET, PACKET_STATISTICS, &since, &size) == 0)
        ring->dropped += since.tp_drops;
    return ring->dropped;
}
