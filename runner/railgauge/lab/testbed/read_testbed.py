"""Reads a testbed's file and reports all its mistakes at once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from railgauge.base.errors import FileProblems, Problem
from railgauge.base.suggestion import suggest
from railgauge.lab.testbed.testbed_model import Testbed
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import Document, load


def read_testbed(path: Path) -> Testbed:
    """Return the testbed that the file at `path` describes; FileProblems with every mistake."""
    document = load(path)
    testbed = validate(document, Testbed)
    problems = [
        *_names(document, testbed),
        *_addresses(document, testbed),
        *_unknown(document, testbed),
        *_queues(document, testbed),
        *_joined_twice(document, testbed),
    ]
    if problems:
        raise FileProblems(problems)
    return testbed


def _names(document: Document, testbed: Testbed) -> Iterator[Problem]:
    for name in testbed.switches:
        if name in testbed.hosts:
            message = f"{name!r} is already a host: call the switch something else"
            yield document.problem(("switches", name), message, key=True)
    names: set[str] = set()
    for index, link in enumerate(testbed.links):
        if link.name is None:
            continue
        # Any two hosts' way has such a name, if they are joined.
        client, arrow, server = link.name.partition("→")
        other_pair = (
            arrow and {client, server} <= testbed.hosts.keys() and [client, server] != link.between
        )
        if other_pair or link.name in names:
            message = f"link {link.name!r} is already there: choose another name"
            if other_pair:
                message = f"{link.name!r} is the way from {client} to {server}: choose another name"
            yield document.problem(("links", index, "name"), message)
        names.add(link.name)


def _addresses(document: Document, testbed: Testbed) -> Iterator[Problem]:
    owners: dict[str, str] = {}
    for name, host in testbed.hosts.items():
        if host.address is None:
            continue
        owner = owners.setdefault(host.address, name)
        if owner != name:
            message = f"{host.address} is already {owner}'s: choose another address"
            yield document.problem(("hosts", name, "address"), message)


def _unknown(document: Document, testbed: Testbed) -> Iterator[Problem]:
    def check(name: str, *loc: str | int, key: bool = False) -> Iterator[Problem]:
        if name not in testbed.hosts:
            hint = suggest(name, testbed.hosts) or f": there are {', '.join(testbed.hosts)}"
            yield document.problem(loc, f"no host {name!r}{hint}", key=key)

    for index, link in enumerate(testbed.links):
        for number, name in enumerate(link.between):
            yield from check(name, "links", index, "between", number)
    for switch_name, switch in testbed.switches.items():
        for number, name in enumerate(switch.hosts):
            yield from check(name, "switches", switch_name, "hosts", number)
        for name in switch.ports:
            if name not in switch.hosts:
                message = f"{name!r} is not on this switch: list it in its hosts, or drop it"
                yield document.problem(("switches", switch_name, "ports", name), message, key=True)


def _queues(document: Document, testbed: Testbed) -> Iterator[Problem]:
    """Yield the queues of links that have no rate, before which nothing ever waits."""
    message = "'queue' is what waits for the link's rate: add 'rate', or drop it"
    for index, link in enumerate(testbed.links):
        if link.queue is not None and link.rate is None:
            yield document.problem(("links", index, "queue"), message, key=True)
    for name, switch in testbed.switches.items():
        rates = [switch.rate, *(port.rate for port in switch.ports.values())]
        if switch.queue is not None and not any(rates):
            yield document.problem(("switches", name, "queue"), message, key=True)
        for host, port in switch.ports.items():
            if port.queue is not None and (port.rate or switch.rate) is None:
                yield document.problem(("switches", name, "ports", host, "queue"), message)


def _joined_twice(document: Document, testbed: Testbed) -> Iterator[Problem]:
    """Yield where two hosts are joined again: it would be unclear which way their traffic takes."""
    joined: set[frozenset[str]] = set()

    def join(pair: frozenset[str]) -> str:
        if len(pair) == 1:
            return f"{next(iter(pair))!r} can't be joined with itself: name two hosts"
        if pair in joined:
            return f"{' and '.join(sorted(pair))} are joined already: drop one of the ways"
        joined.add(pair)
        return ""

    for index, link in enumerate(testbed.links):
        if message := join(frozenset(link.between)):
            yield document.problem(("links", index, "between"), message)
    for name, switch in testbed.switches.items():
        for (_, first), (number, second) in combinations(enumerate(switch.hosts), 2):
            if message := join(frozenset((first, second))):
                yield document.problem(("switches", name, "hosts", number), message)
