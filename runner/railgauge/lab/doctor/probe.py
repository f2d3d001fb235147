"""Asks a host all that the checks want to know, in one program launch."""

from __future__ import annotations

from collections.abc import Sequence

from railgauge.base.errors import EnvironmentFailedError
from railgauge.hosts.transport.interface import Transport, run
from railgauge.lab.doctor import architecture, buffers, compiler, governor, mpi, ports
from railgauge.lab.doctor.check import Check
from railgauge.lab.doctor.needs import Needs

CHECKS: tuple[Check, ...] = tuple(
    module.CHECK for module in (architecture, compiler, mpi, buffers, governor, ports)
)
# What a check says follows this; a login shell may talk before the first.
_MARK = "railgauge-doctor:"
_SECONDS = 30.0


def script() -> str:
    """Return the scripts of all checks in a row; $1 is the folder of the hosts' MPI, or empty."""
    parts = [f"echo {_MARK}\n({check.script}\n)" for check in CHECKS]
    return "\n".join(["LC_ALL=C; export LC_ALL; prefix=$1", *parts, f"echo {_MARK}"])


def probe(transport: Transport, needs: Needs) -> dict[str, str]:
    """Return the facts of the transport's host; EnvironmentFailedError when it doesn't say them."""
    argv = ["sh", "-c", script(), "railgauge", needs.mpi.prefix or ""]
    try:
        completed = run(transport, argv, timeout=_SECONDS)
    except TimeoutError as error:
        raise EnvironmentFailedError(
            f"{transport.host}: it did not say within {_SECONDS:g} s what it has: is it overloaded?"
        ) from error
    answers = split(completed.stdout.splitlines())
    if len(answers) != len(CHECKS):
        raise EnvironmentFailedError(
            f"{transport.host}: the shell there didn't run to the end of what it was asked "
            f"({' '.join(completed.stderr.split())[-200:] or 'it said nothing'}): log in and try sh"
        )
    facts: dict[str, str] = {}
    for check, lines in zip(CHECKS, answers, strict=True):
        facts |= check.read(lines)
    return facts


def split(lines: Sequence[str]) -> list[list[str]]:
    """Return each check's lines; those before the first and after the last mark are nobody's."""
    answers: list[list[str]] = []
    for line in lines:
        if line == _MARK:
            answers.append([])
        elif answers:
            answers[-1].append(line)
    return answers[:-1]
