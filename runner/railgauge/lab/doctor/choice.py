"""Which links are tried where there are too many: all hosts alike, each as both ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from railgauge.plan.links import Link
from railgauge.plan.model import Host


def distinct(links: Mapping[str, Link], hosts: Mapping[str, Host]) -> dict[str, Link]:
    """Return the links of which no two lead from and to the same addresses of the same machines."""
    names_by_ends: dict[tuple[str, str, str, str], str] = {}
    for name, link in links.items():
        client, server = hosts[link.client], hosts[link.server]
        ends = (client.address_on(link.network), server.address_on(link.network))
        names_by_ends.setdefault((client.machine, server.machine, *ends), name)
    return {name: links[name] for name in names_by_ends.values()}


def choose(links: Mapping[str, Link], most: int) -> dict[str, Link]:
    """Return at most `most` links, in order, that use every host about as often as each other."""
    if len(links) <= most:
        return dict(links)
    chosen: set[str] = set()
    starts: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    often = 1
    while len(chosen) < most:
        for name, link in links.items():
            if len(chosen) == most:
                break
            if name not in chosen and starts[link.client] < often and ends[link.server] < often:
                chosen.add(name)
                starts[link.client] += 1
                ends[link.server] += 1
        often += 1
    return {name: link for name, link in links.items() if name in chosen}
