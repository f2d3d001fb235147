"""Where a test measures: on links, groups of hosts, all pairs of a group, or hosts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, permutations
from typing import Any

from railgauge.base.hostlist import expand_hostlist, is_hostlist
from railgauge.plan.catalogue import EngineInfo, Value
from railgauge.plan.links import ALL
from railgauge.plan.model import Test, launcher_of
from railgauge.plan.sources import unknown
from railgauge.plan.space import Group, Place
from railgauge.plan.topology import Topology
from railgauge.plan.validation import Reporter
from railgauge.schedulers import launching

_KINDS = ("links", "hosts", "groups")


def read_places(
    test: Test,
    engine: EngineInfo,
    modes: Sequence[Value | None],
    topology: Topology,
    report: Reporter,
) -> list[Place]:
    """Return where `test` measures in `modes`; nothing, with reports, where it isn't sound."""
    return _Reader(test, engine, modes, topology, report).read()


class _Reader:
    def __init__(
        self,
        test: Test,
        engine: EngineInfo,
        modes: Sequence[Value | None],
        topology: Topology,
        report: Reporter,
    ) -> None:
        self._test = test
        self._engine = engine
        self._modes = modes
        self._topology = topology
        self._reporter = report
        self._sound = True

    def read(self) -> list[Place]:
        kind = self._kind()
        if kind is None:
            return []
        places: dict[str, Place] = {}
        names: set[str] = set()
        for number, name in enumerate(getattr(self._test, kind) or self._default(kind)):
            if name in names:
                self._report(f"{name!r} is listed twice: drop one", kind, number)
                continue
            names.add(name)
            for place in self._places(kind, name, number):
                # Two patterns may have a link in common, which is measured once.
                if places.setdefault(place.name, place) != place:
                    self._report(
                        f"{place.name!r} is in two of these groups, where it is not the same: make "
                        "two tests of them",
                        kind,
                        number,
                    )
                    break
        if self._engine.parallel:
            self._check_holders(places.values())
            self._check_names(places.values())
        return list(places.values()) if self._sound else []

    def _check_holders(self, places: Collection[Place]) -> None:
        """Report ranks that nothing starts together: srun knows its job's nodes, mpirun others."""
        launchers = {name: host.launcher for name, host in self._topology.hosts.items()}
        # A launcher that the plan names is checked with all its hosts elsewhere.
        if len(set(launchers.values())) == 1 or self._topology.mpi.launcher:
            return
        together = {
            place.group.digest if place.group else place.name: (
                place.group.members if place.group else (place.client, place.server or place.client)
            )
            for place in places
        }
        for hosts in together.values():
            inside = next((name for name in hosts if launching(launchers[name])), hosts[0])
            other = next((name for name in hosts if launchers[name] != launchers[inside]), None)
            owner = launching(launchers[inside])
            if owner is not None and other is not None:
                self._report(
                    f"host {inside!r} is {owner.title}'s and host {other!r} is not, so that "
                    "nothing starts ranks on both: make two tests of them",
                    "engine",
                )
                return

    def _check_names(self, places: Collection[Place]) -> None:
        """Report hosts that mpirun can't address or distinguish: it knows their addresses."""
        hosts = self._topology.hosts
        if launching(launcher_of(hosts.values())):
            return
        # A colon stands before a number of slots there.
        messages = {
            name: f"mpirun starts no ranks on host {name!r} by an IPv6 address ({host.address}): "
            "give the host's name as its 'address'"
            for name, host in hosts.items()
            if ":" in host.address
        }
        owners: dict[str, str] = {}
        for name, host in hosts.items():
            owner = owners.setdefault(host.address, name)
            if hosts[owner].machine != host.machine:
                messages[name] = (
                    f"hosts {owner!r} and {name!r} have one address ({host.address}), so that "
                    "mpirun would start both ranks on one of them: mend it"
                )
        if messages:
            # Of a group's pairs each host begins some.
            ends = ((place.client, place.server) for place in places)
            whole = (place.group for place in places if place.group and place.server is None)
            used = {
                *chain.from_iterable(ends),
                *(name for group in whole for name in group.members),
            }
            for name in [name for name in messages if name in used][:1]:
                self._report(messages[name], "engine")

    def _report(self, message: str, *loc: str | int, key: bool = False) -> None:
        self._sound = False
        self._reporter(message, *loc, key=key)

    def _kind(self) -> str | None:
        """Return what all the modes measure, if the test says nothing else."""
        name = self._engine.name
        by_kind: dict[str, Value | None] = {}
        for mode in self._modes:
            by_kind.setdefault(self._engine.measures(mode), mode)
        kind, *other_kinds = by_kind
        if other_kinds:
            self._report(
                f"mode {by_kind[kind]} of engine {name} measures {kind} and mode "
                f"{by_kind[other_kinds[0]]} {other_kinds[0]}: make two tests of them",
                "engine",
            )
            return None
        pairs = [mode for mode in self._modes if mode in self._engine.pair_modes]
        if 0 < len(pairs) < len(self._modes):
            other = next(mode for mode in self._modes if mode not in pairs)
            self._report(
                f"mode {pairs[0]} of engine {name} measures each pair of a group's hosts and mode "
                f"{other} the group as one: make two tests of them",
                "engine",
            )
            return None
        subject = f"engine {name}" if len(_kinds(self._engine)) == 1 else f"mode {self._modes[0]}"
        for other in _KINDS:
            if other != kind and getattr(self._test, other) is not None:
                message = f"{subject} measures {kind}, not {other}: write {kind!r}"
                self._report(message, other, key=True)
        if self._test.network is not None and kind != "groups":
            self._report(
                f"{subject} measures {kind}, and 'network' here is for groups: say it of the links"
                if kind == "links"
                else f"{subject} uses no network: leave 'network' out",
                "network",
                key=True,
            )
        if kind == "links" and not self._topology.links:
            self._report(f"{subject} measures links, but the plan has none: add 'links'", "engine")
            return None
        return kind

    def _default(self, kind: str) -> Sequence[str]:
        """Return the names that a test has that gives none: everything there is."""
        if kind == "groups":
            return (ALL,)
        return tuple(self._topology.links if kind == "links" else self._topology.hosts)

    def _places(self, kind: str, name: str, number: int) -> Iterator[Place]:
        links, hosts, groups = self._topology.links, self._topology.hosts, self._topology.groups
        if kind == "links":
            link_names = self._topology.link_sets.get(name, (name,) if name in links else ())
            for link_name in link_names:
                yield Place(link_name, links[link_name].client, links[link_name].server)
            if not link_names:
                self._unknown("link", name, {**self._topology.link_sets, **links}, kind, number)
        elif kind == "hosts":
            for host in self._listed(name, number):
                if host in hosts:
                    yield Place(host, host, None)
                else:
                    self._unknown("host", host, hosts, kind, number)
        elif name in groups:
            yield from self._group(name, groups[name], number)
        else:
            self._unknown("group", name, groups, kind, number)

    def _listed(self, name: str, number: int) -> list[str]:
        try:
            return expand_hostlist(name) if is_hostlist(name) else [name]
        except ValueError as error:
            self._report(str(error), "hosts", number)
            return []

    def _group(self, name: str, members: Sequence[str], number: int) -> Iterator[Place]:
        network = self._test.network
        lacking = (
            []
            if network is None
            else [host for host in members if network not in self._topology.hosts[host].networks]
        )
        if lacking:
            message = f"host {lacking[0]!r} of group {name!r} has no address on network {network!r}"
            self._report(f"{message}: add it to its 'networks'", "network")
            return
        if len(members) < 2:
            loc = () if self._test.groups is None else ("groups", number)
            self._report(f"group {name!r} has fewer than two hosts: name another", *loc)
            return
        suffix = "" if network is None else f"/{network}"
        group = Group.of(members)
        if any(mode in self._engine.pair_modes for mode in self._modes):
            for client, server in permutations(members, 2):
                yield Place(f"{client}→{server}{suffix}", client, server, group)
        else:
            yield Place(f"{name}{suffix}", members[0], None, group)

    def _unknown(
        self, noun: str, name: str, names: Mapping[str, Any], kind: str, number: int
    ) -> None:
        self._report(unknown(noun, name, names), kind, number)


def _kinds(engine: EngineInfo) -> set[str]:
    """Return all that the engine can measure."""
    return {engine.measures(None), *(engine.measures(mode) for mode in engine.group_modes)}
