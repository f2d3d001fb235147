"""Asks hosts for other people's programs: which of them are absent, and in which version."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from railgauge.base.errors import EngineError
from railgauge.engine.mpi_job import Launcher, mpirun_of
from railgauge.hosts.transport.interface import Completed, Transport, run
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import EngineInfo
from railgauge.plan.catalogue.program import fill

_SECONDS = 30.0
_LONGEST = 200
_ABSENT = 'for name do command -v "$name" >/dev/null 2>&1 || printf "%s\\n" "$name"; done'
# POSIX: of a shell that found no such program.
_ABSENT_STATUS = 127
_BOTH_OUTPUTS = 'exec "$@" 2>&1'


def programs_of(engine: EngineInfo, case: Case, launcher: Launcher) -> tuple[str, ...]:
    """Return the programs that each host of `case` needs, with the MPI launcher if there is one."""
    program = engine.program
    if program is None:
        return ()
    written = engine.written(case.parameters)
    needs = tuple(dict.fromkeys(fill(need, written) for need in program.needs))
    if not program.mpi:
        return needs
    own = program.launcher or tuple(mpirun_of(launcher))
    return (*needs, own[0] if launcher.program == "mpirun" else launcher.program)


def absent(transport: Transport, programs: Collection[str]) -> frozenset[str]:
    """Return those of `programs` that the host lacks."""
    if not programs:
        return frozenset()
    completed = _shell(transport, _ABSENT, sorted(programs))
    return frozenset(completed.stdout.splitlines()) & frozenset(programs)


def unmet(transport: Transport, command: Sequence[str]) -> str:
    """Return why `command` fails on the host, where it has to succeed; "" if it does succeed."""
    try:
        completed = _shell(transport, _BOTH_OUTPUTS, command)
    except TimeoutError:
        return f"no end after {_SECONDS:.0f} s"
    except EngineError as error:
        return str(error)
    if completed.status == 0:
        return ""
    lines = [line.strip() for line in completed.stdout.splitlines() if line.strip()]
    return _printable(lines[-1]) if lines else f"status {completed.status}"


def version_of(transport: Transport, command: Sequence[str]) -> str | None:
    """Return the first line with a digit of what `command` says; None without, or without it."""
    try:
        completed = _shell(transport, _BOTH_OUTPUTS, command)
    except (TimeoutError, EngineError):
        return None
    if completed.status == _ABSENT_STATUS:
        return None
    lines = (line.strip() for line in completed.stdout.splitlines())
    first_line = next((line for line in lines if any(map(str.isdigit, line))), "")
    return _printable(first_line) or None


def _shell(transport: Transport, script: str, arguments: Sequence[str]) -> Completed:
    return run(transport, ["sh", "-c", script, "railgauge", *arguments], timeout=_SECONDS)


def _printable(line: str) -> str:
    return "".join(filter(str.isprintable, line))[:_LONGEST]


def why_skipped(
    programs: Iterable[str],
    hosts: Iterable[str],
    lacking: Mapping[str, Collection[str]],
    words: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return why what needs `programs` on `hosts` is skipped: `iperf3 isn't on gw1`; "": it isn't.

    `lacking` maps a host to what it lacks, `words` one to what more is to be said of it.
    """
    hosts = tuple(dict.fromkeys(hosts))
    reasons = []
    for program in dict.fromkeys(programs):
        if without := [host for host in hosts if program in lacking.get(host, ())]:
            reasons.append(f"{program} isn't on {', '.join(without)}")
    for text in dict.fromkeys(words[host] for host in hosts if host in words):
        where = ", ".join(host for host in hosts if words.get(host) == text)
        reasons.append(f"{text} on {where}")
    return "; ".join(reasons)
