"""The single links of a plan: those written one by one, and those that patterns make.

A pattern's link is named `from→to`, or `from→to/NETWORK` where it has a network. Two patterns may
make the same link: it is there once, with what each says of it, as long as they agree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from railgauge.base import units
from railgauge.base.hostlist import is_hostlist
from railgauge.plan.equipment import DevicePort
from railgauge.plan.groups import Groups
from railgauge.plan.links import Link, Star, WrittenLink
from railgauge.plan.model import Host
from railgauge.plan.patterns import OF_HOSTS, Pair, Pattern, between, star
from railgauge.plan.sources import PlanSource, unknown

# As many as a run may have cases.
MAX_LINKS = 1_000_000
_IN_AND_OUT = 2

Report = Callable[[str, int | None], None]
"""Notes a mistake: its message, and at which stop of the path, None for all of it."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """What stands under one name, and in which file."""

    name: str
    written: WrittenLink
    source: PlanSource

    def report(self, message: str, *loc: str | int, key: bool = False) -> None:
        self.source.report(message, "links", self.name, *loc, key=key)

    def place(self, seen_from: _Entry) -> str:
        return self.source.place("links", self.name, seen_from=seen_from.source)


class LinkTable:
    """All links by name in the order they are written in, and the `sets` that stand for several.

    A set is a pattern, or a link on several networks. The table is `complete` unless one of them
    is unsound, so that nobody knows which links it makes.
    """

    def __init__(
        self,
        hosts: Mapping[str, Host],
        groups: Groups,
        sources: Sequence[PlanSource],
        devices: Collection[str] = (),
    ) -> None:
        self.links: dict[str, Link] = {}
        self.sets: dict[str, tuple[str, ...]] = {}
        self.complete = True
        self._hosts = hosts
        self._groups = groups
        self._devices = devices
        self._entries: dict[str, _Entry] = {}
        for source in sources:
            for name, written in source.links.items():
                self._add(_Entry(name, written, source))
        for name in self.sets.keys() & self.links.keys():
            entry, maker = self._entries[name], self._maker(name)
            message = f"{name!r} is also a link of {maker.name!r} on {maker.place(entry)}"
            entry.report(f"{message}: choose another name", key=True)

    def _add(self, entry: _Entry) -> None:
        name, written = entry.name, entry.written
        if name in self._entries:
            file = self._entries[name].source.document.path
            entry.report(f"link {name!r} is in {file} as well: choose another name", key=True)
            return
        self._entries[name] = entry
        pairs = self._ends(entry) if written.client is not None else self._pairs(entry)
        sound = bool(pairs) and self._has_networks(entry, {host for pair in pairs for host in pair})
        if written.single:
            # Known by its name, whatever is wrong with it.
            ends = str(written.client), str(written.server)
            path = self._path(entry, ends)
            link = Link(*ends, written.rate, written.rtt, written.network, path)
            self._put(entry, ((name, link),))
        elif sound:
            self.sets[name] = self._put(entry, self._pattern_links(entry, pairs))
        else:
            self.complete = False

    def _path(self, entry: _Entry, ends: tuple[str, str]) -> tuple[DevicePort, ...]:
        if entry.written.path is None:
            return ()

        def report(message: str, index: int | None) -> None:
            entry.report(message, "path", *(() if index is None else (index,)))

        return read_path(entry.written.path, ends, self._devices, report)

    def _ends(self, entry: _Entry) -> list[Pair]:
        """Return the pair of hosts of a link that is written alone, if both are known."""
        client, server = str(entry.written.client), str(entry.written.server)
        are_hosts = [self._is_host(entry, client, "from"), self._is_host(entry, server, "to")]
        return [(client, server)] if all(are_hosts) else []

    def _pairs(self, entry: _Entry) -> list[Pair]:
        """Return the pairs that a pattern makes; nothing, with a report, where it is unsound."""
        keyed_pattern = self._pattern(entry)
        if keyed_pattern is None:
            return []
        key, pattern = keyed_pattern
        count = pattern.at_most * len(entry.written.networks or [None])
        if count > MAX_LINKS:
            message = f"these are {count:,} links, and more than {MAX_LINKS:,} are too many"
            entry.report(f"{message}: name fewer hosts", key)
            return []
        pairs = list(pattern.pairs)
        if not pairs:
            entry.report("links are between two hosts, and here is only one: name another", key)
        return pairs

    def _pattern(self, entry: _Entry) -> tuple[str, Pattern] | None:
        """Return a pattern with its hosts, and its key; None, with a report, if it is unsound."""
        written = entry.written
        if written.star is not None:
            return self._star(entry, written.star)
        if written.between is not None:
            members = [
                self._groups.member(member, entry.source, "links", entry.name, "between", index)
                for index, member in enumerate(written.between)
            ]
            sound = [hosts for hosts in members if hosts is not None]
            return ("between", between(sound)) if len(sound) == len(members) else None
        key = next(key for key in OF_HOSTS if written.pattern(key) is not None)
        hosts = self._groups.members(written.pattern(key), entry.source, "links", entry.name, key)
        return None if hosts is None else (key, OF_HOSTS[key](hosts))

    def _star(self, entry: _Entry, written: Star) -> tuple[str, Pattern] | None:
        is_host = self._is_host(entry, written.centre, "star", "centre")
        loc = ("links", entry.name, "star", "hosts")
        hosts = self._groups.members(written.hosts, entry.source, *loc)
        return None if hosts is None or not is_host else ("star", star(written.centre, hosts))

    def _is_host(self, entry: _Entry, name: str, *loc: str) -> bool:
        if name in self._hosts:
            return True
        reason = unknown("host", name, self._hosts)
        if name in self._groups.hosts or is_hostlist(name):
            kind = "hostlist" if is_hostlist(name) else "group"
            reason = f"{name!r} is a {kind}: write a host, or the pattern 'between'"
        entry.report(f"link {entry.name!r}: {reason}", *loc)
        return False

    def _has_networks(self, entry: _Entry, hosts: Iterable[str]) -> bool:
        """Report networks that some of the hosts have no address on."""
        sound = True
        written = entry.written
        required: list[tuple[str, tuple[str | int, ...]]] = [
            (network, ("networks", index)) for index, network in enumerate(written.networks or [])
        ]
        if written.network is not None:
            required.append((written.network, ("network",)))
        for network, loc in required:
            lacking = [name for name in hosts if network not in self._hosts[name].networks]
            if lacking:
                sound = False
                entry.report(self._missing_address(network, sorted(lacking)), *loc)
        if written.networks and len(set(written.networks)) < len(written.networks):
            sound = False
            entry.report("a network is listed twice: drop one", "networks")
        return sound

    def _missing_address(self, network: str, lacking: Sequence[str]) -> str:
        networks = dict.fromkeys(chain.from_iterable(h.networks for h in self._hosts.values()))
        if not networks:
            return (
                f"no host has an address on network {network!r}: add it to the hosts, as in "
                f"networks: {{{network}: 192.168.7.1}}"
            )
        if network not in networks:
            return unknown("network", network, networks)
        names = ", ".join(lacking[:5]) + (f" and {len(lacking) - 5} more" * (len(lacking) > 5))
        subject = f"host {names} has" if len(lacking) == 1 else f"hosts {names} have"
        return f"{subject} no address on network {network!r}: add it there under 'networks'"

    def _pattern_links(self, entry: _Entry, pairs: Sequence[Pair]) -> Iterator[tuple[str, Link]]:
        written = entry.written
        alone = entry.name if written.client is not None else None
        networks: Sequence[str | None] = written.networks or [written.network]
        for network in networks:
            end = "" if network is None else f"/{network}"
            for client, server in pairs:
                name = f"{alone or f'{client}→{server}'}{end}"
                yield name, Link(client, server, written.rate, written.rtt, network)

    def _put(self, entry: _Entry, links: Iterable[tuple[str, Link]]) -> tuple[str, ...]:
        """Add links and return their names; report the first that contradicts what is there."""
        names = []
        reported = False
        for name, link in links:
            names.append(name)
            existing = self.links.setdefault(name, link)
            if existing is link or existing == link:
                continue
            merged = _merged(existing, link)
            if merged is not None:
                self.links[name] = merged
            elif not reported:
                self._report_clash(entry, name, existing, link)
                reported = True
        if len(self.links) > MAX_LINKS >= len(self.links) - len(names):
            message = f"up to here there are {len(self.links):,} links, more than {MAX_LINKS:,}"
            entry.report(f"{message}: use fewer", key=True)
        return tuple(names)

    def _report_clash(self, entry: _Entry, name: str, existing: Link, link: Link) -> None:
        other = self._maker(name).place(entry)
        for key, show in (("rate", units.format_rate), ("rtt", units.format_time)):
            first, second = getattr(existing, key), getattr(link, key)
            if _same_place(existing, link) and None not in (first, second) and first != second:
                message = f"{key!r}: link {name!r} has {show(first)} on {other}, and here"
                entry.report(f"{message} {show(second)}: keep one of the two", key)
                return
        message = f"link {name!r} stands for something else on {other}: choose another name there"
        entry.report(message, key=True)

    def _maker(self, name: str) -> _Entry:
        """Return what first made the link `name`."""
        makers = (self._entries[key] for key, names in self.sets.items() if name in names)
        return next(makers, None) or self._entries[name]


def _same_place(first: Link, second: Link) -> bool:
    ends = (first.client, first.server, first.network)
    return ends == (second.client, second.server, second.network)


def _merged(first: Link, second: Link) -> Link | None:
    """Return a link with what both say of it; None if they contradict each other."""
    rates = {first.rate, second.rate} - {None}
    times = {first.rtt, second.rtt} - {None}
    paths = {first.path, second.path} - {()}
    if not _same_place(first, second) or max(len(rates), len(times), len(paths)) > 1:
        return None
    return replace(
        first,
        rate=next(iter(rates), None),
        rtt=next(iter(times), None),
        path=next(iter(paths), ()),
    )


def read_path(
    stops: Sequence[str], ends: tuple[str, str], devices: Collection[str], report: Report
) -> tuple[DevicePort, ...]:
    """Return the ports on a path written as `stops`, from the first of `ends` to the other.

    What is wrong is reported, and nothing returned.
    """
    sound = True
    for index, end, name in ((0, "from", ends[0]), (len(stops) - 1, "to", ends[1])):
        if stops[index] != name:
            message = f"a path leads from the link's first host to its other: write {name!r}"
            report(f"{message} here, which stands under {end!r}", index)
            sound = False
    ports = [
        _port(stop, index, devices, report) for index, stop in enumerate(stops[:-1]) if index > 0
    ]
    valid_ports = tuple(port for port in ports if port is not None)
    if not sound or len(valid_ports) < len(ports):
        return ()
    if not valid_ports:
        report("this path has no switch: name its ports, as in 'switchA:17', or drop it", None)
    if len(set(valid_ports)) < len(valid_ports):
        duplicate = next(port for port in valid_ports if valid_ports.count(port) > 1)
        report(f"{str(duplicate)!r} is on this path twice: drop one", None)
        return ()
    for device, hop_ports in groupby(valid_ports, key=lambda port: port.device):
        if len(list(hop_ports)) > _IN_AND_OUT:
            message = f"more than two ports of {device!r} in a row: name the one that the traffic"
            report(f"{message} comes in by, and the one that it leaves by", None)
            return ()
    return valid_ports


def _port(stop: str, index: int, devices: Collection[str], report: Report) -> DevicePort | None:
    device, colon, interface = stop.partition(":")
    if not colon or not interface.strip():
        message = f"{stop!r} is no port: write DEVICE:PORT, as in 'switchA:17' or 'switchA:Eth1/3'"
        report(message, index)
        return None
    if device not in devices:
        if not devices:
            report(f"{device!r} is not there: add it under 'equipment'", index)
        else:
            report(unknown("equipment", device, dict.fromkeys(devices)), index)
        return None
    return DevicePort(device, interface.strip())
