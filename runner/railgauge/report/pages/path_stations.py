"""The places along a link where packets of a UDP stream are counted, from one host to the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from railgauge.base.systemlog import PortLog, SystemLog

# Fits into one packet wherever IPv4 has Ethernet's usual MTU: 1500 less 20 of IP and 8 of UDP.
_ONE_PACKET = 1472
# ARP, spanning tree and the like, which no protocol counts.
_UNCOUNTED = 10
_TROUBLE = {
    "out": ("dropped", "errors", "carrier", "fifo", "aborted_errors", "window_errors"),
    "in": ("dropped", "errors", "missed_errors", "crc_errors", "fifo", "frame", "over_errors"),
}
_SIGNS = {"out": "tx", "in": "rx"}

Way = Literal["in", "out"]


@dataclass(frozen=True, slots=True)
class Station:
    """A place where the stream's packets were counted; None where they couldn't be.

    `unit` says of what: datagrams, or the IP packets that carry them. `trouble` are the discards
    and errors counted there, by the counter's name. `opposite` are the packets that a port counted
    the other way. `note` says why a count can't be compared with the others.
    """

    place: str
    counter: str
    packets: int | None
    unit: Literal["datagrams", "packets"]
    trouble: tuple[tuple[str, int], ...] = ()
    opposite: int = 0
    note: str = ""


def host_station(log: SystemLog, way: Way) -> Station | None:
    """Return the interface of a host that the stream leaves or comes in by; None without any.

    That is the one with the most packets that way: of a bond or a bridge and what is under it, the
    upper one counts all.
    """
    sign = _SIGNS[way]
    counts: dict[str, int] = {}
    for name, number in log.counts.items():
        family, _, rest = name.partition("/")
        interface, _, counter = rest.rpartition("/")
        if family == "interface" and counter == f"{sign}_packets":
            counts[interface] = number
    if len(counts) > 1:
        counts.pop("lo", None)
    if not counts:
        return None
    interface = max(sorted(counts), key=counts.__getitem__)
    trouble = _nonzero(
        (f"{sign}_{suffix}", log.counts.get(f"interface/{interface}/{sign}_{suffix}", 0))
        for suffix in _TROUBLE[way]
    )
    place = f"{interface} of {log.host}"
    return Station(place, f"{sign}_packets", counts[interface], "packets", trouble)


def ports_by_device(ports: Iterable[PortLog]) -> list[list[PortLog]]:
    """Return the ports of a path in its order, those of one device in a row together."""
    ordered = sorted(ports, key=lambda port: port.position)
    return [list(group) for _, group in groupby(ordered, key=lambda port: port.device)]


def port_stations(ports: Sequence[PortLog], *, reverse: bool = False) -> list[Station]:
    """Return the ports of a path in the order that the stream takes, backwards if `reverse`.

    Of two ports of a device in a row, the stream comes in by the first and leaves by the second. A
    port alone is where it comes in, but at the last device of several where it leaves.
    """
    devices = ports_by_device(ports)
    if reverse:
        devices = [device_ports[::-1] for device_ports in reversed(devices)]
    stations = []
    for number, device_ports in enumerate(devices):
        last = number > 0 and number == len(devices) - 1
        for index, port in enumerate(device_ports):
            leaves = index > 0 or (len(device_ports) == 1 and last)
            stations.append(_port_station(port, "out" if leaves else "in"))
    return stations


def _port_station(port: PortLog, way: Way) -> Station:
    sign = way.title()
    trouble = _nonzero(
        (name, port.counts.get(name, 0)) for name in (f"if{sign}Discards", f"if{sign}Errors")
    )
    counter = f"ifHC{sign}UcastPkts"
    packets = port.counts.get(counter)
    opposite = port.counts.get(f"ifHC{'In' if way == 'out' else 'Out'}UcastPkts", 0)
    note = "" if packets is not None else "not known"
    place = f"{port.device}:{port.interface} ({way})"
    return Station(place, counter, packets, "packets", trouble, opposite, note)


def per_datagram(log: SystemLog | None, datagram: int) -> int | None:
    """Return how many IP packets the sender made of each datagram; None if that is unknown."""
    if log is None:
        return 1 if datagram <= _ONE_PACKET else None
    fragments = _ip_total(log.counts, "Ip", "FragCreates")
    cut = _ip_total(log.counts, "Ip", "FragOKs")
    if not fragments:
        return 1
    return fragments // cut if cut and fragments % cut == 0 else None


def other_packets(log: SystemLog | None, way: Way, own: int) -> int:
    """Return how many packets a host sent or received beside the `own` datagrams of the stream.

    At most: those of all its interfaces but lo.
    """
    if log is None:
        return _UNCOUNTED
    counts = log.counts
    sign = way.title()
    datagrams = _ip_total(counts, "Udp", f"{sign}Datagrams")
    if way == "in":
        datagrams += _ip_total(counts, "Udp", "InErrors") + _ip_total(counts, "Udp", "NoPorts")
    packets = (
        counts.get(f"protocol/Tcp/{sign}Segs", 0)
        + (counts.get("protocol/Tcp/RetransSegs", 0) if way == "out" else 0)
        + _ip_total(counts, "Icmp", f"{sign}Msgs")
        + max(0, datagrams - own)
    )
    return max(0, packets - counts.get(f"interface/lo/{_SIGNS[way]}_packets", 0)) + _UNCOUNTED


def other_port_packets(stations: Iterable[Station], other_stream: int) -> int:
    """Return how many packets beside the stream's a port may have counted, at most.

    Ports are read before an engine starts and after it has ended, so they count the whole control
    channel. That is a conversation: not more than two packets one way for each the other way, where
    `other_stream` datagrams may have come as well.
    """
    most = max((station.opposite for station in stations), default=0)
    return 2 * max(0, most - other_stream) + _UNCOUNTED


def ip_trouble(log: SystemLog | None) -> tuple[tuple[str, int], ...]:
    """Return what a host counted of packets that were lost between its interface and a socket."""
    if log is None:
        return ()
    backlog = sum(
        number
        for name, number in log.counts.items()
        if name.startswith("softnet/") and name.endswith("/dropped")
    )
    names = (("Ip", "InDiscards"), ("Ip", "InHdrErrors"), ("Ip", "ReasmFails"))
    counted = ((f"IP {counter}", _ip_total(log.counts, ip, counter)) for ip, counter in names)
    checksum_errors = ("UDP InCsumErrors", _ip_total(log.counts, "Udp", "InCsumErrors"))
    return _nonzero([("softnet dropped", backlog), *counted, checksum_errors])


def _ip_total(counts: Mapping[str, int], protocol: str, counter: str) -> int:
    """Return what IPv4 and IPv6 counted together."""
    return sum(counts.get(f"protocol/{protocol}{six}/{counter}", 0) for six in ("", "6"))


def _nonzero(counted: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    return tuple((name, number) for name, number in counted if number)
