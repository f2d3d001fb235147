"""Which hosts and links are to be examined: those of a hosts file, or what a plan measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from railgauge.base.errors import InputError
from railgauge.lab.doctor.needs import Needs, needs_of
from railgauge.plan.catalogue import Catalogue, load_catalogue
from railgauge.plan.links import Link
from railgauge.plan.load import LoadedPlan, load_plan
from railgauge.plan.model import Host, Mpi, launcher_of
from railgauge.plan.patterns import ring
from railgauge.plan.topology import read_hosts_file
from railgauge.plan.yamlfile import load


@dataclass(frozen=True, slots=True)
class Targets:
    """The hosts to examine, their links, what is wanted of them, and the engines to try them."""

    hosts: Mapping[str, Host]
    links: Mapping[str, Link]
    needs: Needs
    catalogue: Catalogue


def read_targets(path: Path, plan: Path | None) -> Targets:
    """Return what the file at `path`, a hosts file or a plan, has to be examined.

    A hosts file is checked against what the `plan` needs, whatever hosts that names itself.
    FileProblems with all mistakes; InputError for two plans.
    """
    if _is_plan(path):
        if plan is not None:
            raise InputError(f"{path} is a plan itself: name a hosts file, or leave --plan out")
        loaded = load_plan(path)
        needs = needs_of(loaded, _mpi(loaded.plan.mpi or Mpi(), loaded.plan.hosts))
        return Targets(loaded.plan.hosts, _measured(loaded), needs, loaded.catalogue)
    topology = read_hosts_file(path)
    mpi = _mpi(topology.mpi, topology.hosts)
    needs = Needs(mpi=mpi) if plan is None else needs_of(load_plan(plan), mpi)
    return Targets(topology.hosts, topology.links, needs, load_catalogue())


def _mpi(mpi: Mpi, hosts: Mapping[str, Host]) -> Mpi:
    """Return how MPI starts there, with the launcher if a scheduler's hosts leave only one."""
    launcher = launcher_of(hosts.values())
    return mpi if launcher == "mpirun" else mpi.model_copy(update={"launcher": launcher})


def _is_plan(path: Path) -> bool:
    if path.suffix == ".ini":
        return False
    data = load(path).data
    return isinstance(data, dict) and bool(data.keys() & {"railgauge", "tests"})


def _measured(loaded: LoadedPlan) -> dict[str, Link]:
    """Return the links that the plan's tests measure; of a group each host to the next."""
    links: dict[str, Link] = {}
    for space in loaded.spaces:
        for place in space.places:
            if place.group is not None:
                network = space.test.network
                for client, server in ring(place.group.members).pairs:
                    name = f"{client}→{server}" + (f"/{network}" if network else "")
                    links.setdefault(name, Link(client, server, network=network))
            elif place.server is not None:
                network = loaded.plan.links[place.name].network
                links[place.name] = Link(place.client, place.server, network=network)
    return links
