"""Truths about what measures the host itself: cpu and mem, and how busy its CPUs are.

rail-reference, a program with no code in common with the engines, does the same work by turns with
them, or keeps the CPUs busy; what it did comes in a file of its own, not through a run.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shlex
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from railgauge.base.certificate import CertificateCheck
from railgauge.base.errors import EnvironmentFailedError
from railgauge.calibrate.rig import SENDER, Rig, RigResult
from railgauge.calibrate.truth import Truth
from railgauge.calibrate.uncertainty import compared
from railgauge.engine.deploy import bundle, deploy

# Two hosts; nothing goes between them.
WIRING = "links: [{between: [sender, receiver]}]"
PAIRS = 10
LOADS = 6
_RATE_LIMIT = 0.05
_LOAD_LIMIT = 0.02
# Bytes: half of a small second level of caches, and so many that the ends of loops take nothing.
_BLOCK = 131_072
_RATE_SECONDS = 0.1
_LOAD_SECONDS = 0.8
# Of each CPU's time.
_LOAD = 0.5
# By how much two loops of the same instructions may differ: where they lie, and how they end.
_IMPLEMENTATION = 0.02
# Seconds of a load that the marks around it may have more than it.
_START = 0.01
# Less than this share of a CPU, or more than this of all CPUs taken by others, disturbs.
_UNDISTURBED = 0.98
_OTHERS = 0.01
# With a standard deviation of the mean above this share of the limit, chance alone may bring
# the mean beyond the limit.
_STEADY = 0.25


@dataclass(frozen=True, slots=True)
class ReferenceRun:
    """What rail-reference did: an amount (operations, bytes), its CPU seconds, and seconds."""

    amount: float
    cpu: float
    elapsed: float


@dataclass(frozen=True, slots=True)
class Load:
    """A load of all CPUs: CPU seconds, seconds, and seconds that the CPUs were idle, summed up;
    and CPU seconds of railgauge's own programs meanwhile.
    """

    cpu: float
    elapsed: float
    idle: float
    own: float


def machine_truths() -> Iterator[Truth]:
    """Yield the truths about cpu and mem, and about the loads by rail-watch and rail-soak."""
    settings = f"precision: integer, vector: auto, duration: {_RATE_SECONDS}s"
    check = CertificateCheck("cpu integer rate", "cpu", "op/s", _RATE_LIMIT, relative=True)
    measure = partial(
        _rate, settings=settings, metric="operation_rate", work=("integer", str(_RATE_SECONDS))
    )
    yield Truth(check, WIRING, measure)
    settings = f"mode: read, vector: scalar, block: {_BLOCK}, duration: {_RATE_SECONDS}s"
    check = CertificateCheck("mem reading rate", "mem", "B/s", _RATE_LIMIT, relative=True)
    work = ("read", str(_RATE_SECONDS), str(_BLOCK))
    yield Truth(check, WIRING, partial(_rate, settings=settings, metric="throughput", work=work))
    check = CertificateCheck("cpu load by /proc/stat", "watch", "", _LOAD_LIMIT, relative=False)
    yield Truth(check, WIRING, partial(_load, soak=False))
    check = CertificateCheck("cpu load by soakers", "soak", "", _LOAD_LIMIT, relative=False)
    yield Truth(check, WIRING, partial(_load, soak=True))


def _rate(
    pair: Rig,
    check: CertificateCheck,
    *,
    settings: str,
    metric: str,
    work: Sequence[str],
    pairs: int = PAIRS,
) -> CertificateCheck:
    """Compare with a plain loop of the same operations on the same CPU, by turns."""
    cpu = str(max(os.sched_getaffinity(0)))
    with _result_file() as file:
        command = _command(pair, work[0], str(file), cpu, *work[1:])
        measured = pair.measure(
            "".join(
                f"  - {{name: engine-{i}, engine: {check.engine}, hosts: [{SENDER}], "
                f"replications: 1, set: {{{settings}, cpus: '{cpu}'}}}}\n"
                f"  - {{name: reference-{i}, engine: command, hosts: [{SENDER}], "
                f"replications: 1, set: {{command: {command}}}}}\n"
                for i in range(pairs)
            )
        )
        runs = [ReferenceRun(*numbers) for numbers in _numbers(file)]
    values, truths = measured.values(metric), [run.amount / run.elapsed for run in runs]
    shares = [*_shares(measured), *(run.cpu / run.elapsed for run in runs)]
    reasons = [measured.reason]
    if shares and min(shares) < _UNDISTURBED:
        reasons.append(f"other programs left it {min(shares):.0%} of its CPU at times")
    budget = {"how two loops differ": _IMPLEMENTATION / math.sqrt(3)}
    return judged(check, values, truths, budget, reasons)


def _shares(measured: RigResult) -> list[float]:
    """Return the shares of its CPU that the engine had, by replication."""
    names = ("client_user_time", "client_system_time", "client_elapsed")
    columns = [measured.values(name) for name in names]
    return [(user + system) / elapsed for user, system, elapsed in zip(*columns, strict=False)]


def _load(
    pair: Rig, check: CertificateCheck, *, soak: bool, replications: int = LOADS
) -> CertificateCheck:
    """Compare with the CPU time that the kernel's scheduler counted of a load of all CPUs.

    And of what railgauge itself takes meanwhile: its watchers, and who waits for them.
    """
    cpus = os.cpu_count() or 1
    with _result_file() as file:
        numbers = (str(_LOAD), str(_LOAD_SECONDS), str(os.getpid()))
        command = _command(pair, "burn", str(file), *numbers)
        measured = pair.measure(
            f"  - {{name: load, engine: command, hosts: [{SENDER}], order: sequential, "
            f"soak: {str(soak).lower()}, replications: {replications}, "
            f"set: {{command: {command}}}}}\n"
        )
        loads = [Load(*numbers) for numbers in _numbers(file)]
    truths = [(load.cpu + load.own) / load.elapsed / cpus for load in loads]
    if soak:
        # Soakers leave no CPU idle: rail-watch counts them as if they did.
        busy = measured.values("client_cpu_load")
    else:
        busy = [1 - load.idle / load.elapsed / cpus for load in loads]
    background = [total - truth for total, truth in zip(busy, truths, strict=False)]
    reasons = [measured.reason]
    if background and max(background) > _OTHERS:
        reasons.append(f"other programs took up to {max(background):.0%} of the CPUs")
    values = measured.values("client_cpu_load_soak" if soak else "client_cpu_load")
    budget = {"the marks around a load": _LOAD * _START / _LOAD_SECONDS / math.sqrt(3)}
    return judged(check, values, truths, budget, reasons)


def judged(
    check: CertificateCheck,
    values: Sequence[float],
    truths: Sequence[float],
    budget: dict[str, float],
    reasons: Sequence[str],
) -> CertificateCheck:
    """Return `check` with these pairs, which belong together; see `compared`.

    That they scatter too much is a reason of its own: then chance alone may have made the error.
    """
    result = compared(check, values, truths, budget, "; ".join(filter(None, reasons)))
    if result.error is None:
        return result
    pairs = zip(values, truths, strict=True)
    differences = [(v - t) / t if check.relative else v - t for v, t in pairs]
    deviation = statistics.stdev(differences) / math.sqrt(len(differences))
    if deviation <= _STEADY * check.limit or result.reason:
        return result
    return replace(result, reason="the differences of value and truth scatter: a busy machine")


@contextlib.contextmanager
def _result_file() -> Iterator[Path]:
    """Give a file for rail-reference's lines that is removed afterwards."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="railgauge-reference-")
    except OSError as error:
        raise EnvironmentFailedError(f"can't make a folder for results: {error}") from error
    with folder as name:
        yield Path(name) / "results"


def _command(pair: Rig, *words: str) -> str:
    """Return the value of `command` in a plan that starts rail-reference with these words."""
    program = f"{deploy(pair.transport(SENDER), bundle())}/rail-reference"
    return json.dumps(shlex.join((program, *words)))


def _numbers(file: Path) -> list[tuple[float, ...]]:
    """Return the numbers of each line; none without the file."""
    try:
        lines = file.read_text(encoding="ascii").splitlines()
        return [tuple(map(float, line.split())) for line in lines]
    except (OSError, ValueError):
        return []
