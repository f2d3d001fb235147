"""In what the hosts differ that should be alike."""

from __future__ import annotations

from collections.abc import Mapping

from railgauge.lab.doctor.diagnosis import HostFindings

_SHOWN = 5


def differences(hosts: Mapping[str, HostFindings], fact: str) -> str:
    """Return `A (a, b), B (c)`: which hosts have which value of `fact`; "" where all have one.

    The rarest comes last. Hosts that don't have the fact don't count.
    """
    having: dict[str, list[str]] = {}
    for name, findings in hosts.items():
        if fact in findings.facts:
            having.setdefault(findings.facts[fact], []).append(name)
    if len(having) < 2:
        return ""
    ordered = sorted(having.items(), key=lambda item: (-len(item[1]), item[0]))
    return ", ".join(f"{value} ({_names(names)})" for value, names in ordered)


def compare(hosts: Mapping[str, HostFindings], *, mpi: bool) -> tuple[list[str], list[str]]:
    """Return problems and notes about hosts that differ; with `mpi`, one MPI has to run on all."""
    problems, notes = [], []
    if values := differences(hosts, "mpi"):
        sentence = f"the hosts have different MPIs: {values}"
        if mpi:
            problems.append(
                f"{sentence}: jobs over both fail; install one version, or name its folder with "
                "'mpi: {prefix: FOLDER}'"
            )
        else:
            notes.append(sentence)
    elif mpi and (values := differences(hosts, "mpirun")):
        problems.append(
            f"the hosts have mpirun in different folders: {values}: put it into one, and name that "
            "with 'mpi: {prefix: FOLDER}'"
        )
    if values := differences(hosts, "rail_mpi"):
        problems.append(
            f"a job starts one program on all its hosts, but rail-mpi is {values}: give the hosts "
            "the same home, or the same XDG_CACHE_HOME"
        )
    for fact, noun in (("architecture", "architectures"), ("kernel", "kernels")):
        if values := differences(hosts, fact):
            notes.append(f"the hosts have different {noun}: {values}")
    return problems, notes


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
