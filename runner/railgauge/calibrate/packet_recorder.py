"""Records the packets that pass an interface: when, and how much payload, by the kernel's stamps.

    python packet_recorder.py INTERFACE SLOTS

A program of its own, with nothing but the standard library, as it runs in a host's namespace. The
kernel writes the first bytes of each packet into a ring of SLOTS slots (packet(7), PACKET_RX_RING)
without anybody having to wake up. It prints `ready`; once its standard input has a line or ends, it
prints a line a packet: nanoseconds (CLOCK_REALTIME), whether it left (1) or came (0), protocol,
ports, payload bytes, a number and flags. Of TCP these are the sequence number, and 1 for FIN and 2
for SYN; of UDP the low half of the number that railgauge's streams have in bytes 8 to 16 of their
payload, 0 in a shorter one, and 0. The last line says how many packets found no slot, and how many
ns of CLOCK_REALTIME and of CLOCK_MONOTONIC_RAW it all took.
"""

from __future__ import annotations

import mmap
import select
import socket
import struct
import sys
import time
from collections.abc import Iterator

# <linux/if_packet.h>, <linux/if_ether.h>
_SOL_PACKET, _PACKET_RX_RING, _PACKET_STATISTICS, _PACKET_VERSION = 263, 5, 6, 10
# What leaves is shown only to who asks for all.
_TPACKET_V2, _ETH_P_ALL, _ETH_P_IP = 1, 0x0003, 0x0800
# tpacket2_hdr: status, length, bytes kept, where the link and the network header begin, time
_HEADER = struct.Struct("=IIIHHII")
_OUTGOING = 4
# sockaddr_ll behind that header: its protocol and its type of packet
_PROTOCOL, _TYPE = 32 + 2, 32 + 10
_SLOT = 256
_BLOCK = 1 << 20
# It ends by itself after this many seconds, whatever became of the controller.
_LONGEST = 300.0
_UDP, _TCP = 17, 6
# The two low bits of TCP's flags (RFC 9293).
_FIN_SYN = 3
# In a datagram of a stream the sequence number, of eight bytes, ends here.
_NUMBER_END = 16


def main(interface: str, slots: int) -> None:
    """Record until standard input has a line; then print what came."""
    blocks = -(-slots * _SLOT // _BLOCK)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL)) as sock:
        sock.setsockopt(_SOL_PACKET, _PACKET_VERSION, _TPACKET_V2)
        count = blocks * (_BLOCK // _SLOT)
        ring_size = struct.pack("IIII", _BLOCK, blocks, _SLOT, count)
        sock.setsockopt(_SOL_PACKET, _PACKET_RX_RING, ring_size)
        sock.bind((interface, _ETH_P_ALL))
        with mmap.mmap(sock.fileno(), blocks * _BLOCK) as ring:
            begin = _clocks()
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            select.select([sys.stdin], [], [], _LONGEST)
            wall, raw = (end - start for end, start in zip(_clocks(), begin, strict=True))
            sys.stdout.writelines(_lines(ring, count))
            statistics = sock.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
            sys.stdout.write(f"{struct.unpack('II', statistics)[1]} {wall} {raw}\n")


def _clocks() -> tuple[int, int]:
    clocks = time.CLOCK_REALTIME, time.CLOCK_MONOTONIC_RAW
    wall, raw = map(time.clock_gettime_ns, clocks)
    return wall, raw


def _lines(ring: mmap.mmap, count: int) -> Iterator[str]:
    """Yield a line for each slot that has a packet of UDP or TCP, in their order."""
    for start in range(0, count * _SLOT, _SLOT):
        status, _, _, _, network, seconds, nanoseconds = _HEADER.unpack_from(ring, start)
        if not status:
            return
        if struct.unpack_from(">H", ring, start + _PROTOCOL)[0] != _ETH_P_IP:
            continue
        packet = start + network
        transport = packet + 4 * (ring[packet] & 15)
        length = struct.unpack_from(">H", ring, packet + 2)[0] - (transport - packet)
        protocol = ring[packet + 9]
        if protocol not in (_UDP, _TCP):
            continue
        source, target, number = struct.unpack_from(">HHI", ring, transport)
        if protocol == _UDP:
            length -= 8
            number = flags = 0
            if length >= _NUMBER_END:
                number = struct.unpack_from(">I", ring, transport + 8 + _NUMBER_END - 4)[0]
        else:
            length -= 4 * (ring[transport + 12] >> 4)
            flags = ring[transport + 13] & _FIN_SYN
        stamp = seconds * 1_000_000_000 + nanoseconds
        outgoing = int(ring[start + _TYPE] == _OUTGOING)
        yield f"{stamp} {outgoing} {protocol} {source} {target} {length} {number} {flags}\n"


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
