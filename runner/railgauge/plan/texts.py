"""What decides with its text about what a plan measures; a run keeps it, to go on with the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from railgauge.plan.load import LoadedPlan, load_plan_text
from railgauge.plan.yamlfile import read_text
from railgauge.schedulers import SCHEDULERS

HOSTS = "--hosts"


def named_texts(loaded: LoadedPlan) -> dict[str, str]:
    """Return name -> text of what decides with the plan's text about what is measured.

    That is the hosts file (under the name the plan gives it), the descriptions of other people's
    engines that its tests use (`engine NAME`), the nodes that `{slurm: all}` stands for, and which
    hosts file took the place of the plan's own hosts.
    """
    plan, described = loaded.plan, loaded.catalogue.external
    files = {plan.hosts_file: loaded.directory / plan.hosts_file} if plan.hosts_file else {}
    files |= {
        f"engine {test.engine}": Path(described[test.engine])
        for test in plan.tests
        if test.engine in described
    }
    texts = {name: read_text(file) for name, file in files.items()}
    if loaded.nodes is not None:
        owners = [host.scheduler.name for host in plan.hosts.values() if host.scheduler]
        texts[_nodes_of(owners[0])] = loaded.nodes
    if loaded.hosts is not None:
        texts[HOSTS] = str(loaded.hosts)
    return texts


def load_stored(run: int, text: str, directory: str, files: Mapping[str, str]) -> LoadedPlan:
    """Return the plan that run `run` keeps: its text, its folder and its `named_texts`."""
    hosts = Path(files[HOSTS]) if HOSTS in files else None
    nodes = allocated_nodes(files)
    return load_plan_text(text, f"plan of run {run}", Path(directory), nodes, hosts)


def allocated_nodes(files: Mapping[str, str]) -> str | None:
    """Return, of a run's `named_texts`, the nodes that `{slurm: all}` stood for, if any."""
    return next((files[_nodes_of(name)] for name in SCHEDULERS if _nodes_of(name) in files), None)


def _nodes_of(scheduler: str) -> str:
    return f"{scheduler} nodes"
