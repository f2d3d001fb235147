"""What a testbed comes to: namespaces, cables between them, addresses and routes."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

from railgauge.lab.testbed.testbed_model import PacketPattern, Switch, Testbed

Means = Literal["veth", "netem", "rail-wire"]
_FIRST_OCTET = 77  # of 10.x.0.0/16, the networks that testbeds take where their files name none


@dataclass(frozen=True, slots=True)
class CableEnd:
    """One end of a cable: an interface in a namespace."""

    namespace: str
    interface: str


@dataclass(frozen=True, slots=True)
class Cable:
    """A cable between two namespaces; `rate` in bit/s, one-way `delay` in s, `queue` in bytes."""

    name: str
    ends: tuple[CableEnd, CableEnd]
    rate: float | None
    delay: float
    queue: int | None
    mtu: int
    loss: PacketPattern | None
    by: Means
    duplicate: PacketPattern | None = None
    reorder: PacketPattern | None = None


@dataclass(frozen=True, slots=True)
class ClusterWay:
    """An ordered pair of hosts that can talk; `rate` in bit/s and `rtt` in s, as asked for."""

    name: str
    client: str
    server: str
    rate: float | None
    rtt: float | None


@dataclass(frozen=True, slots=True)
class ClusterLayout:
    """All that is to be made, by names that are known beforehand.

    `namespaces` and `addresses` are hosts', by name; `bridges` are the switches' namespaces, where
    a bridge `switch` joins what ends there. `routes` are (namespace, address, interface).
    """

    name: str
    network: str
    namespaces: dict[str, str]
    addresses: dict[str, str]
    bridges: tuple[str, ...]
    cables: tuple[Cable, ...]
    routes: tuple[tuple[str, str, str], ...]
    ways: tuple[ClusterWay, ...]

    @property
    def all_namespaces(self) -> tuple[str, ...]:
        """The hosts' and the switches'."""
        return (*self.namespaces.values(), *self.bridges)


def free_network(used_networks: Iterable[str]) -> str:
    """Return a /16 of 10.0.0.0/8 that overlaps none of the `used_networks`."""
    used = [ipaddress.IPv4Network(text) for text in used_networks]
    octets = (*range(_FIRST_OCTET, 256), *range(1, _FIRST_OCTET))
    candidates = [ipaddress.IPv4Network(f"10.{octet}.0.0/16") for octet in octets]
    free = (network for network in candidates if not any(map(network.overlaps, used)))
    return str(next(free, candidates[0]))


def has_delay(testbed: Testbed) -> bool:
    """Return whether anything of it takes time to cross."""
    cables = [link.one_way for link in testbed.links]
    for switch in testbed.switches.values():
        cables += [_port(switch, host)[1] for host in switch.hosts]
    return any(cables)


def lay_out(testbed: Testbed, network: str, *, netem: bool) -> ClusterLayout:
    """Return what `testbed` comes to in `network`; `netem`: whether the kernel has it."""
    namespaces = {name: f"rg-{testbed.name}-{name}" for name in testbed.hosts}
    addresses = _addresses(testbed, network)
    cables: list[Cable] = []
    routes: list[tuple[str, str, str]] = []
    ways: list[ClusterWay] = []
    for index, link in enumerate(testbed.links):
        left, right = link.between
        interface = f"link{index}"
        ends = (CableEnd(namespaces[left], interface), CableEnd(namespaces[right], interface))
        delay = link.one_way
        by = _means(delay, link.patterns, netem)
        name = link.name or f"{left}→{right}"
        shape = (link.rate, delay, link.queue, link.mtu, link.loss, by)
        cables.append(Cable(name, ends, *shape, link.duplicate, link.reorder))
        routes.append((namespaces[left], addresses[right], interface))
        routes.append((namespaces[right], addresses[left], interface))
        rtt = 2 * delay or None
        ways.append(ClusterWay(name, left, right, link.rate, rtt))
        ways.append(ClusterWay(f"{right}→{left}", right, left, link.rate, rtt))
    for index, (name, switch) in enumerate(testbed.switches.items()):
        interface, bridge = f"net{index}", f"rg-{testbed.name}-{name}"
        cables.extend(_ports(name, switch, bridge, interface, namespaces, netem=netem))
        for left, right in permutations(switch.hosts, 2):
            routes.append((namespaces[left], addresses[right], interface))
        ways.extend(_switched(switch))
    return ClusterLayout(
        testbed.name,
        network,
        namespaces,
        addresses,
        tuple(f"rg-{testbed.name}-{name}" for name in testbed.switches),
        tuple(cables),
        tuple(routes),
        tuple(ways),
    )


def _addresses(testbed: Testbed, network: str) -> dict[str, str]:
    """Return each host's address: its own, or the next free one of the network."""
    fixed = {host.address for host in testbed.hosts.values()}
    free = (
        text
        for address in ipaddress.IPv4Network(network).hosts()
        if (text := str(address)) not in fixed
    )
    return {name: host.address or next(free) for name, host in testbed.hosts.items()}


def _means(delay: float, patterns: dict[str, PacketPattern], netem: bool) -> Means:
    """Return what makes a cable; only rail-wire picks the same packets every time."""
    if patterns:
        return "rail-wire"
    if delay:
        return "netem" if netem else "rail-wire"
    return "veth"


def _port(switch: Switch, host: str) -> tuple[float | None, float, int | None]:
    """Return rate, one-way delay and queue of the host's cable to the switch."""
    own = switch.ports.get(host)
    rate = own.rate if own and own.rate is not None else switch.rate
    delay = own.delay if own and own.delay is not None else switch.delay
    queue = own.queue if own and own.queue is not None else switch.queue
    return rate, delay or 0.0, queue


def _ports(
    name: str,
    switch: Switch,
    bridge: str,
    interface: str,
    namespaces: dict[str, str],
    *,
    netem: bool,
) -> Iterator[Cable]:
    for number, host in enumerate(switch.hosts):
        rate, delay, queue = _port(switch, host)
        ends = (CableEnd(namespaces[host], interface), CableEnd(bridge, f"port{number}"))
        by = _means(delay, {}, netem)
        yield Cable(f"{name}/{host}", ends, rate, delay, queue, switch.mtu, None, by)


def _switched(switch: Switch) -> Iterator[ClusterWay]:
    """Yield every ordered pair: as slow as the slower port, as far as both cables."""
    for client, server in permutations(switch.hosts, 2):
        ports: Sequence[tuple[float | None, float, int | None]]
        ports = [_port(switch, host) for host in (client, server)]
        rate = min((rate for rate, _, _ in ports if rate is not None), default=None)
        rtt = 2 * sum(delay for _, delay, _ in ports)
        yield ClusterWay(f"{client}→{server}", client, server, rate, rtt or None)
