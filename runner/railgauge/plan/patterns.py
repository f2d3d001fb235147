"""Patterns of links: the ordered pairs of hosts that each makes, and how many they may be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

Pair = tuple[str, str]


class Pattern(NamedTuple):
    """The pairs in order, each once, made as they are read; there are `at_most` so many."""

    at_most: int
    pairs: Iterable[Pair]


def all_pairs(hosts: Sequence[str]) -> Pattern:
    """Return each of the hosts with each other one, in both directions."""
    return Pattern(len(hosts) * (len(hosts) - 1), permutations(hosts, 2))


def ring(hosts: Sequence[str]) -> Pattern:
    """Return each of the hosts with the next one, the last with the first."""
    following = [*hosts[1:], *hosts[:1]]
    return Pattern(len(hosts), zip(hosts, following, strict=True) if len(hosts) > 1 else ())


# By their keys: what is about hosts alone, and about all of them where the name stands alone.
OF_HOSTS: Mapping[str, Callable[[Sequence[str]], Pattern]] = {"all-pairs": all_pairs, "ring": ring}


def star(centre: str, hosts: Sequence[str]) -> Pattern:
    """Return the centre with each of the hosts, in both directions."""
    points = (host for host in hosts if host != centre)
    pairs = (pair for host in points for pair in ((centre, host), (host, centre)))
    return Pattern(2 * len(hosts), pairs)


def between(groups: Sequence[Sequence[str]]) -> Pattern:
    """Return the hosts of each group with those of each other group, in both directions.

    Where groups overlap, a host is never paired with itself, and no pair comes twice.
    """
    total = sum(len(hosts) for hosts in groups)
    most = total**2 - sum(len(hosts) ** 2 for hosts in groups)
    return Pattern(most, _between(groups))


def _between(groups: Sequence[Sequence[str]]) -> Iterator[Pair]:
    yield from dict.fromkeys(
        (client, server)
        for clients, servers in permutations(groups, 2)
        for client in clients
        for server in servers
        if server != client
    )
