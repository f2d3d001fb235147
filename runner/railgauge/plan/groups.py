"""Groups of hosts: which hosts each stands for, once the groups in groups are written out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from graphlib import CycleError, TopologicalSorter

from railgauge.base.hostlist import expand_hostlist, is_hostlist
from railgauge.plan.links import ALL
from railgauge.plan.sources import PlanSource, unknown

# In all groups together; beyond this a file more likely has a slip in it than a purpose.
MAX_MEMBERS = 5_000_000
# How many circles are reported; then the groups are given up.
_CIRCLES = 20


class Groups:
    """The hosts of each group; `all` is always one of them.

    The name of an unsound group is known, but not its hosts, and then they aren't `complete`: what
    is wrong with it is reported once.
    """

    def __init__(self, hosts: Collection[str], sources: Sequence[PlanSource]) -> None:
        self.hosts: dict[str, tuple[str, ...]] = {ALL: tuple(hosts)}
        self._written: dict[str, PlanSource] = {}
        self._names: dict[str, None] = dict.fromkeys([*hosts, ALL])
        self._alone = {host: (host,) for host in hosts}
        for source in sources:
            self._add(source)
        self._resolve(self._order())
        as_written = [ALL, *self._written]
        self.complete = all(name in self.hosts for name in self._written)
        self.hosts = {name: self.hosts[name] for name in as_written if name in self.hosts}

    def members(
        self, names: Iterable[str], source: PlanSource, *loc: str | int
    ) -> tuple[str, ...] | None:
        """Return the hosts that `names`, a list at `loc`, stand for, each once and in order.

        None where a name is unknown, which is reported, or a group is unsound.
        """
        members: dict[str, None] = {}
        sound = True
        for index, name in enumerate(names):
            hosts = self.member(name, source, *loc, index)
            members |= dict.fromkeys(hosts or ())
            sound = sound and hosts is not None
        return tuple(members) if sound else None

    def member(self, name: str, source: PlanSource, *loc: str | int) -> tuple[str, ...] | None:
        """Return the hosts that `name`, at `loc`, stands for; None as `members` does.

        A hostlist stands for its hosts.
        """
        if is_hostlist(name):
            return self._listed(name, source, *loc)
        if name not in self._names:
            source.report(unknown("host or group", name, self._names), *loc)
        return self._alone.get(name) or self.hosts.get(name)

    def _listed(self, hostlist: str, source: PlanSource, *loc: str | int) -> tuple[str, ...] | None:
        try:
            names = dict.fromkeys(expand_hostlist(hostlist))
        except ValueError as error:
            source.report(str(error), *loc)
            return None
        if missing := [name for name in names if name not in self._alone]:
            reason = unknown("host", missing[0], self._alone)
            source.report(f"hostlist {hostlist!r}: {reason}", *loc)
            return None
        return tuple(names)

    def _add(self, source: PlanSource) -> None:
        for name in source.groups:
            loc = ("groups", name)
            if is_hostlist(name):
                message = f"{name!r} is a hostlist: choose another name, and write that in its list"
                source.report(message, *loc, key=True)
            elif name == ALL:
                message = "'all' always stands for all hosts: choose another name"
                source.report(message, *loc, key=True)
            elif name in self._alone:
                source.report(f"{name!r} is a host: choose another name", *loc, key=True)
            elif name in self._written:
                other = self._written[name].place(*loc, seen_from=source)
                message = f"group {name!r} is in {other} as well: choose another name"
                source.report(message, *loc, key=True)
            else:
                self._written[name] = source
                self._names[name] = None

    def _order(self) -> list[str]:
        """Return the groups, each after those it consists of; those in a circle are left out."""
        inner = {
            name: [member for member in source.groups[name] if member in self._written]
            for name, source in self._written.items()
        }
        for _ in range(_CIRCLES):
            try:
                return list(TopologicalSorter(inner).static_order())
            except CycleError as error:
                circle = list(dict.fromkeys(reversed(error.args[1])))
                self._report_circle(circle)
                for name in circle:
                    del inner[name]
                for members in inner.values():
                    members[:] = [member for member in members if member in inner]
        return []

    def _report_circle(self, circle: Sequence[str]) -> None:
        """Report groups each of which contains the next, and the last the first."""
        written = list(self._written)
        start = circle.index(min(circle, key=written.index))
        rotated = [*circle[start:], *circle[:start]]
        name, following = rotated[0], rotated[1 % len(rotated)]
        chain = " → ".join([*rotated[:8], *(["…"] if len(rotated) > 8 else []), name])
        source = self._written[name]
        message = f"group {name!r} contains itself ({chain}): take {following!r} out of it"
        source.report(message, "groups", name, list(source.groups[name]).index(following))

    def _resolve(self, order: Iterable[str]) -> None:
        count = 0
        for name in order:
            source = self._written[name]
            hosts = self.members(source.groups[name], source, "groups", name)
            if hosts is None:
                continue
            self.hosts[name] = hosts
            count += len(hosts)
            if count > MAX_MEMBERS:
                message = f"the groups up to here have more than {MAX_MEMBERS:,} hosts: use fewer"
                source.report(message, "groups", name, key=True)
                break
