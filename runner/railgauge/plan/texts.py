"""What decides with its text about what a plan measures; a run keeps it, to go on with the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from railgauge.plan.load import LoadedPlan
from railgauge.yamlfile import load

NODES = "slurm nodes"
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
    texts = {name: load(file).text for name, file in files.items()}
    if loaded.nodes is not None:
        texts[NODES] = loaded.nodes
    if loaded.hosts is not None:
        texts[HOSTS] = str(loaded.hosts)
    return texts


def moved_to(files: Mapping[str, str]) -> Path | None:
    """Return, of a run's `named_texts`, the hosts file in place of its plan's own hosts."""
    return Path(files[HOSTS]) if HOSTS in files else None
