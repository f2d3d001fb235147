"""The hosts, links and groups of a plan: its own, or with those of its hosts file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from railgauge.base.errors import FileProblems, Problem
from railgauge.plan.allocated import Allocated
from railgauge.plan.ansible_inventory import Inventory, is_inventory
from railgauge.plan.equipment import Equipment
from railgauge.plan.groups import Groups
from railgauge.plan.hostlists import write_out
from railgauge.plan.link_table import LinkTable
from railgauge.plan.links import ALL, Link, WrittenLink
from railgauge.plan.model import Host, HostsFile, Mpi, Plan
from railgauge.plan.sources import PlanSource
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import Document, load, why_unreadable
from railgauge.schedulers import launching


@dataclass(frozen=True, slots=True)
class Topology:
    """What a plan measures on. Where it has `problems`, the rest is good for finding more at most.

    `links` are single ones, with those that patterns make; `link_sets` are the links that a
    pattern, or a link on several networks, stands for. `groups` are the hosts of each group,
    without groups in them. `equipment` is what the paths of links lead through.
    """

    hosts: Mapping[str, Host] = field(default_factory=dict)
    links: Mapping[str, Link] = field(default_factory=dict)
    link_sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mpi: Mpi = field(default_factory=Mpi)
    equipment: Mapping[str, Equipment] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def parts(self) -> dict[str, Any]:
        """Return what takes the place of the plan's own."""
        return {
            "hosts": dict(self.hosts),
            "links": self.links,
            "groups": {name: list(members) for name, members in self.groups.items()},
            "mpi": self.mpi,
            "equipment": dict(self.equipment),
        }


def read_topology(
    plan: Plan, document: Document, directory: Path, allocated: Allocated
) -> Topology:
    """Return the topology of `plan`, read from `document`; its hosts file is in `directory`."""
    own = PlanSource(document, plan.groups, _written(plan.links), plan.equipment)
    if bool(plan.hosts) == (plan.hosts_file is not None):
        own.report("a plan has either 'hosts' or a 'hosts_file'", "hosts_file", key=True)
        return Topology(problems=tuple(own.problems))
    if plan.hosts_file is None:
        return _topology(document, plan.hosts, [own], plan.mpi or Mpi())
    path = directory / plan.hosts_file
    if reason := why_unreadable(path):
        own.report(f"the hosts file {str(path)!r} {reason}", "hosts_file")
        return Topology(problems=tuple(own.problems))
    try:
        shared_document, shared = _load_hosts(path, allocated)
    except FileProblems as error:
        return Topology(problems=tuple(error.problems))
    sources = [_source(shared_document, shared), own]
    return _topology(shared_document, shared.hosts, sources, _joined(shared.mpi, plan.mpi))


def read_hosts_file(path: Path) -> Topology:
    """Return the topology of the hosts file at `path`; FileProblems with all its mistakes."""
    document, shared = _load_hosts(path, Allocated())
    topology = _topology(document, shared.hosts, [_source(document, shared)], shared.mpi)
    if topology.problems:
        raise FileProblems(topology.problems)
    return topology


def _load_hosts(path: Path, allocated: Allocated) -> tuple[Document, HostsFile]:
    if path.suffix == ".ini":
        document = Inventory.of_ini(path)
    else:
        document = load(path)
        if is_inventory(document):
            document = Inventory.of_yaml(document)
    document = write_out(allocated.fill(document))
    return document, validate(document, HostsFile)


def _source(document: Document, shared: HostsFile) -> PlanSource:
    return PlanSource(document, shared.groups, _written(shared.links), shared.equipment)


def _written(links: Mapping[str, WrittenLink | Link]) -> dict[str, WrittenLink]:
    return {name: link for name, link in links.items() if isinstance(link, WrittenLink)}


def _joined(shared: Mpi, own: Mpi | None) -> Mpi:
    """Return how MPI starts: what the plan says goes before what its hosts file says."""
    fields_set = own.model_fields_set if own is not None else ()
    return shared.model_copy(update={key: getattr(own, key) for key in fields_set})


def _topology(
    document: Document, hosts: Mapping[str, Host], sources: list[PlanSource], mpi: Mpi
) -> Topology:
    """Return the topology of `hosts`, written in `document`, with what `sources` add to them."""
    if ALL in hosts:
        problem = document.problem(
            ("hosts", ALL), "'all' always stands for all hosts: choose another name", key=True
        )
        sources[0].problems.append(problem)
    _check_launcher(mpi, hosts, sources)
    groups = Groups(hosts, sources)
    equipment = _equipment(hosts, sources)
    table = LinkTable(hosts, groups, sources, equipment)
    problems = tuple(problem for source in sources for problem in source.problems)
    if not (table.complete and groups.complete):
        return Topology(problems=problems)
    return Topology(hosts, table.links, table.sets, groups.hosts, mpi, equipment, problems)


def _equipment(hosts: Mapping[str, Host], sources: list[PlanSource]) -> dict[str, Equipment]:
    """Return the equipment of all `sources`; a name that stands for two things is reported."""
    equipment: dict[str, Equipment] = {}
    owners: dict[str, PlanSource] = {}
    for source in sources:
        for name, device in source.equipment.items():
            if name in hosts:
                message = f"{name!r} is a host: choose another name"
                source.report(message, "equipment", name, key=True)
            elif name in owners:
                other = owners[name].place("equipment", name, seen_from=source)
                message = f"equipment {name!r} is in {other} as well: choose another name"
                source.report(message, "equipment", name, key=True)
            equipment.setdefault(name, device)
            owners.setdefault(name, source)
    return equipment


def _check_launcher(mpi: Mpi, hosts: Mapping[str, Host], sources: list[PlanSource]) -> None:
    """Report hosts where `mpi` can't start ranks: in a step, mpirun sees that step alone."""
    other = next((name for name, host in hosts.items() if host.launcher != mpi.launcher), None)
    if mpi.launcher is None or other is None:
        return
    if owner := launching(mpi.launcher):
        message = (
            f"{mpi.launcher} starts no ranks on host {other!r}, which is not {owner.title}'s: "
            "write mpirun"
        )
    elif owner := launching(hosts[other].launcher):
        message = (
            f"host {other!r} is {owner.title}'s, where {owner.launcher} starts the ranks: leave "
            "'launcher' out"
        )
    else:
        return
    for source in reversed(sources):
        if "launcher" in (source.document.data.get("mpi") or {}):
            source.report(message, "mpi", "launcher")
            return
