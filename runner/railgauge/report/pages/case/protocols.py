"""Counters of the protocols and fabrics that moved: losses and errors first, with explanations."""

from __future__ import annotations

from railgauge.report.pages.case.counter_families import Counters
from railgauge.report.pages.case.sheet import Sheet, SheetRow, count

_NO_ROOM = "dropped: the socket's receive buffer was full"
_REASSEMBLY = "datagrams given up: a fragment was missing, or there was no memory for them"
_OFTEN_LOST = "segments sent again"
# What the counters of trouble count (RFC 4293, 4113, 4022; Linux: snmp_counter.rst).
_TROUBLE = {
    "Udp/RcvbufErrors": _NO_ROOM,
    "Udp6/RcvbufErrors": _NO_ROOM,
    "Udp/InErrors": "datagrams that could not be delivered, those without room included",
    "Udp6/InErrors": "datagrams that could not be delivered, those without room included",
    "Udp/SndbufErrors": "not sent: the socket's send buffer or the interface's queue was full",
    "Udp6/SndbufErrors": "not sent: the socket's send buffer or the interface's queue was full",
    "Udp/NoPorts": "datagrams to a port that nobody listened on",
    "Udp6/NoPorts": "datagrams to a port that nobody listened on",
    "Udp/InCsumErrors": "wrong checksums",
    "Udp6/InCsumErrors": "wrong checksums",
    "Udp/MemErrors": "dropped: no memory left for UDP",
    "Ip/ReasmFails": _REASSEMBLY,
    "Ip6/ReasmFails": _REASSEMBLY,
    "Ip/ReasmTimeout": "fragments that waited too long for the rest of their datagram",
    "Ip6/ReasmTimeout": "fragments that waited too long for the rest of their datagram",
    "Ip/FragFails": "datagrams too large that might not be cut in fragments",
    "Ip6/FragFails": "datagrams too large that might not be cut in fragments",
    "Ip/InDiscards": "packets dropped for lack of room",
    "Ip6/InDiscards": "packets dropped for lack of room",
    "Ip/OutDiscards": "packets to send dropped for lack of room",
    "Ip6/OutDiscards": "packets to send dropped for lack of room",
    "Ip/InHdrErrors": "packets with a damaged header",
    "Ip/InAddrErrors": "packets for an address that isn't this host's",
    "Ip/OutNoRoutes": "packets to send without a route",
    "Ip6/OutNoRoutes": "packets to send without a route",
    "Tcp/RetransSegs": _OFTEN_LOST,
    "Tcp/InErrs": "damaged segments",
    "Tcp/InCsumErrors": "wrong checksums",
    "Tcp/AttemptFails": "connections that did not come about",
    "TcpExt/TCPLostRetransmit": "segments that were lost even when sent again",
    "TcpExt/TCPFastRetrans": "segments sent again at once, as later ones had arrived",
    "TcpExt/TCPSlowStartRetrans": "segments sent again in slow start",
    "TcpExt/TCPTimeouts": "times that waiting for an acknowledgement ended",
    "TcpExt/TCPSynRetrans": "connection requests sent again",
    "TcpExt/TCPSpuriousRTOs": "timeouts that were none: the acknowledgement came after all",
    "TcpExt/TCPRcvQDrop": "segments dropped: the receive queue was full",
    "TcpExt/TCPZeroWindowDrop": "segments dropped: the window was closed",
    "TcpExt/TCPBacklogDrop": "segments dropped: the socket's backlog was full",
    "TcpExt/TCPRcvCollapsed": "segments squeezed together, as receive memory ran short",
    "TcpExt/PruneCalled": "times that receive memory ran short",
    "TcpExt/RcvPruned": "segments dropped, as receive memory ran short",
    "TcpExt/OfoPruned": "segments out of order dropped, as receive memory ran short",
    "TcpExt/ListenOverflows": "connections refused: the listening queue was full",
    "TcpExt/ListenDrops": "connections dropped while listening",
    "TcpExt/TCPOFOQueue": "segments that came out of order",
    "IpExt/InTruncatedPkts": "packets that were cut short",
    "IpExt/InCsumErrors": "wrong checksums",
}
_MOST = 200


def trouble_sheet(counters: Counters) -> Sheet | None:
    """Return the counters of losses and errors, and what each counts; None if all are 0."""
    counts = counters.counts("protocol")
    rows = tuple(
        SheetRow(name, (meaning, count(counts[name])))
        for name, meaning in _TROUBLE.items()
        if counts.get(name)
    )
    if not rows:
        return None
    return Sheet("What the protocols lost", ("Counter", "Is", "count"), rows, texts=1)


def protocol_sheet(counters: Counters) -> Sheet | None:
    """Return all other counters of protocols that moved, in the kernel's names."""
    return _counter_sheet("Other protocol counters", counters, "protocol", "Counter")


def fabric_sheet(counters: Counters) -> Sheet | None:
    """Return the counters of InfiniBand and Omni-Path ports that moved."""
    return _counter_sheet("Fabric ports", counters, "fabric", "Device/port/counter")


def _counter_sheet(title: str, counters: Counters, family: str, heading: str) -> Sheet | None:
    counts = counters.counts(family)
    names = sorted(name for name, number in counts.items() if number and name not in _TROUBLE)
    if not names:
        return None
    rows = tuple(SheetRow(name, (count(counts[name]),)) for name in names[:_MOST])
    more = len(names) - len(rows)
    notes = (f"{more} more are not listed.",) if more else ()
    return Sheet(title, (heading, "count"), rows, notes)
