"""The hosts, links and groups of a plan: its own, or those of its hosts file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from railgauge.errors import FileProblems, Problem
from railgauge.plan.model import Host, HostsFile, Link, Mpi, Plan
from railgauge.validation import suggest, validate
from railgauge.yamlfile import Document, load, why_unreadable


@dataclass(frozen=True, slots=True)
class Topology:
    """What a plan measures on; empty, with the `problems`, where it is unsound.

    `groups` are the hosts of each group, without groups in them.
    """

    hosts: Mapping[str, Host] = field(default_factory=dict)
    links: Mapping[str, Link] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mpi: Mpi = field(default_factory=Mpi)
    problems: tuple[Problem, ...] = ()

    def parts(self) -> dict[str, Any]:
        """Return what takes the place of the plan's own."""
        return {
            "hosts": dict(self.hosts),
            "links": dict(self.links),
            "groups": {name: list(members) for name, members in self.groups.items()},
            "mpi": self.mpi,
        }


def read_topology(plan: Plan, document: Document, directory: Path) -> Topology:
    """Return the topology of `plan`, read from `document`; its hosts file is in `directory`."""
    reader = _Reader(document, directory)
    return reader.read(plan)


class _Reader:
    def __init__(self, document: Document, directory: Path) -> None:
        self.problems: list[Problem] = []
        self._document = document
        self._directory = directory

    def read(self, plan: Plan) -> Topology:
        hosts, links = self._hosts_and_links(plan)
        if self.problems:
            return Topology(problems=tuple(self.problems))
        return Topology(hosts, links, {"all": tuple(hosts)}, plan.mpi or Mpi())

    def _report(self, message: str, *loc: str | int, key: bool = False) -> None:
        self.problems.append(self._document.problem(loc, message, key=key))

    def _read_hosts_file(self, name: str) -> tuple[Document, HostsFile] | None:
        path = self._directory / name
        if reason := why_unreadable(path):
            self._report(f"the hosts file {str(path)!r} {reason}", "hosts_file")
            return None
        try:
            document = load(path)
            return document, validate(document, HostsFile)
        except FileProblems as error:
            self.problems.extend(error.problems)
            return None

    def _hosts_and_links(self, plan: Plan) -> tuple[dict[str, Host], dict[str, Link]]:
        """Return the hosts and links of the plan and its hosts file; empty if that is unsound."""
        hosts, links = dict(plan.hosts), dict(plan.links)
        if bool(hosts) == (plan.hosts_file is not None):
            self._report("a plan has either 'hosts' or a 'hosts_file'", "hosts_file", key=True)
            return {}, {}
        if plan.hosts_file is not None:
            found = self._read_hosts_file(plan.hosts_file)
            if found is None:
                return {}, {}
            document, shared = found
            hosts = shared.hosts
            self._check_links(shared.links, hosts, document)
            for name in links.keys() & shared.links.keys():
                message = f"link {name!r} is in {document.path} as well: choose another name"
                self._report(message, "links", name, key=True)
            links = shared.links | links
        self._check_links(plan.links, hosts, self._document)
        return hosts, links

    def _check_links(
        self, links: Mapping[str, Link], hosts: Mapping[str, Host], document: Document
    ) -> None:
        for name, link in links.items():
            for key, host in (("from", link.client), ("to", link.server)):
                if host not in hosts:
                    message = f"link {name!r}: {unknown('host', host, hosts)}"
                    self.problems.append(document.problem(("links", name, key), message))


def unknown(kind: str, name: str, known: Mapping[str, Any]) -> str:
    """Return the sentence about a name that isn't known."""
    hint = suggest(name, known) or f": known are {', '.join(sorted(known)[:10])}"
    return f"unknown {kind} {name!r}{hint}"
