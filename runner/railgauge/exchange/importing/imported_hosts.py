"""The hosts and links that imported results are of, as a hosts file describes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from railgauge.base.errors import FileProblems
from railgauge.base.real_path import real_path
from railgauge.hosts.peaks.host_peaks import host_peaks, link_peak
from railgauge.hosts.peaks.peak import Peak
from railgauge.plan.allocated import Allocated
from railgauge.plan.cases import Case
from railgauge.plan.model import Plan
from railgauge.plan.topology import Topology, read_topology
from railgauge.plan.yamlfile import loads


@dataclass(frozen=True, slots=True)
class ImportedHosts:
    """What is known of the hosts: without a `file`, nothing."""

    file: str = ""
    topology: Topology = field(default_factory=Topology)

    def ends(self, name: str) -> tuple[str, str | None] | None:
        """Return the client and server of the link of that name, or the host itself; None: neither.

        Without a file a link's hosts aren't known, and its name stands for its client.
        """
        if not self.file:
            return name, None
        if name in self.topology.links:
            link = self.topology.links[name]
            return link.client, link.server
        return (name, None) if name in self.topology.hosts else None

    def peaks(self, cases: Iterable[Case]) -> Iterator[Peak]:
        """Yield what the file declares of the cases' hosts and links."""
        links: dict[str, None] = {}
        hosts: dict[str, None] = {}
        for case in cases:
            hosts |= dict.fromkeys(name for name in (case.client, case.server) if name)
            if case.server is not None:
                links[case.link] = None
        for name in hosts:
            if name in self.topology.hosts:
                yield from host_peaks(name, self.topology.hosts[name].peaks, {}, file=self.file)
        for name in links:
            rate = self.topology.links[name].rate if name in self.topology.links else None
            if rate:
                yield link_peak(name, rate, file=self.file)


NO_HOSTS = ImportedHosts()


def read_imported_hosts(path: Path) -> ImportedHosts:
    """Return the hosts file's hosts and links; FileProblems with every mistake in it."""
    # A plan that names the file: there is one reader of hosts files.
    test = {"name": "imported", "engine": "udp"}
    written = {"railgauge": 1, "name": "imported", "hosts_file": str(real_path(path))}
    document = loads(json.dumps({**written, "tests": [test]}), "--hosts")
    plan = Plan.model_validate(document.data)
    topology = read_topology(plan, document, path.parent, Allocated())
    if topology.problems:
        raise FileProblems(topology.problems)
    return ImportedHosts("hosts file", topology)
