"""Patterns of links: the ordered pairs of hosts that each makes, and how many they may be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations


@dataclass(frozen=True, slots=True)
class AllPairs:
    """Each of the hosts with each other one, in both directions."""

    hosts: Sequence[str]

    def at_most(self) -> int:
        """Return how many pairs there are, or a few more."""
        return len(self.hosts) * (len(self.hosts) - 1)

    def pairs(self) -> Iterable[tuple[str, str]]:
        """Return the pairs in order, each once."""
        return permutations(self.hosts, 2)


@dataclass(frozen=True, slots=True)
class Ring:
    """Each of the hosts with the next one, the last with the first."""

    hosts: Sequence[str]

    def at_most(self) -> int:
        """Return how many pairs there are, or a few more."""
        return len(self.hosts)

    def pairs(self) -> Iterable[tuple[str, str]]:
        """Return the pairs in order, each once."""
        if len(self.hosts) < 2:
            return ()
        return zip(self.hosts, [*self.hosts[1:], self.hosts[0]], strict=True)


@dataclass(frozen=True, slots=True)
class StarPattern:
    """The centre with each of the hosts, in both directions."""

    centre: str
    hosts: Sequence[str]

    def at_most(self) -> int:
        """Return how many pairs there are, or a few more."""
        return 2 * len(self.hosts)

    def pairs(self) -> Iterable[tuple[str, str]]:
        """Yield the pairs in order, each once."""
        for host in self.hosts:
            if host != self.centre:
                yield self.centre, host
                yield host, self.centre


@dataclass(frozen=True, slots=True)
class Between:
    """The hosts of each group with those of each other group, in both directions.

    Where groups overlap, a host is never paired with itself, and no pair comes twice.
    """

    groups: Sequence[Sequence[str]]

    def at_most(self) -> int:
        """Return how many pairs there are, or a few more."""
        total = sum(len(hosts) for hosts in self.groups)
        return total**2 - sum(len(hosts) ** 2 for hosts in self.groups)

    def pairs(self) -> Iterable[tuple[str, str]]:
        """Return the pairs in order, each once."""
        return dict.fromkeys(self._all())

    def _all(self) -> Iterator[tuple[str, str]]:
        for clients, servers in permutations(self.groups, 2):
            for client in clients:
                yield from ((client, server) for server in servers if server != client)


Pattern = AllPairs | Ring | StarPattern | Between
