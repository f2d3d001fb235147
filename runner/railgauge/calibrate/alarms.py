"""Truths about the gate: nights of noise alone hardly alarm, and a shift put in is found.

The noise is this machine's, as an engine measured it and the store has it. Each night is drawn from
it anew with replacement, so that nothing differs between nights but chance.
"""

from __future__ import annotations

import contextlib
import io
import math
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from railgauge.base.certificate import CertificateCheck
from railgauge.base.errors import EnvironmentFailedError
from railgauge.calibrate.rig import Fault
from railgauge.calibrate.truth import LocalTruth
from railgauge.compare.compare import SMALLEST, compare
from railgauge.compare.reading import ReadRuns
from railgauge.compare.select import Selection
from railgauge.run.job import Request
from railgauge.run.pipeline import execute, read
from railgauge.run.progress import PlainProgress
from railgauge.store.records import PlannedCase, Series

_METRIC = "operation_rate"
# The noise is that of so many replications, back to back.
_REPLICATIONS = 150
_PLAN = f"""railgauge: 1
name: noise
hosts: {{here: {{address: 127.0.0.1, transport: local}}}}
tests:
  - {{name: noise, engine: cpu, hosts: [here], replications: {_REPLICATIONS}, order: sequential,
     system_log: off, set: {{duration: 20ms}}}}
"""
# So many nights that their uncertainty is within the limit: 2 √(0.05 · 0.95 / 500) = 0.0195.
NIGHTS = 500
_LIMIT = 0.03
_MOST_ALARMS, _LEAST_FINDS = 0.05, 0.9
SHIFT = 0.03
_CASES, _BASELINE_RUNS, _PER_NIGHT = 4, 5, 10
# To call noise slower is false at any size; in plans that say none, changes from SMALLEST on count.
ANY_CHANGE = 1e-6
# With more noise than this (a standard deviation, a share) a right gate may miss the shift: of ten
# replications of normal noise it finds it in 94 of 100 nights at 1 %.
_MOST_NOISE = 0.01
_SEED = 20130401
# Seconds to wait for another run's end.
_WAIT = 30.0
_Values = NDArray[np.float64]


def alarm_truths() -> Iterator[LocalTruth]:
    """Yield the truths about the gate's alarms."""
    false_alarms = CertificateCheck("gate false alarms", "gate", "", _LIMIT, relative=False)
    yield LocalTruth(false_alarms, lambda c, fault: count_alarms(c, measured_noise(), fault))
    finds = CertificateCheck("gate finds a shift of 3 %", "gate", "", _LIMIT, relative=False)
    yield LocalTruth(finds, lambda c, fault: count_finds(c, measured_noise(), fault))


def count_alarms(
    check: CertificateCheck, noise: Series, fault: Fault | None = None
) -> CertificateCheck:
    """Return `check` with the share of nights of noise alone that have any alarm."""
    share = _changed(alarms(noise, smallest=ANY_CHANGE), fault)
    excess = max(0.0, share - _MOST_ALARMS)
    return _share(check, share, _MOST_ALARMS, excess, NIGHTS)


def count_finds(
    check: CertificateCheck, noise: Series, fault: Fault | None = None, nights: int = NIGHTS
) -> CertificateCheck:
    """Return `check` with the share of nights in which a shift is found."""
    share = _changed(alarms(noise, shift=SHIFT, nights=nights), fault)
    in_nights = _share(check, share, _LEAST_FINDS, min(0.0, share - _LEAST_FINDS), nights)
    spread = spread_of(noise.values)
    if spread <= _MOST_NOISE:
        return in_nights
    return replace(
        in_nights,
        reason=f"replications spread by {100 * spread:.2g} % here, and a right gate needs "
        f"{100 * _MOST_NOISE:g} % at most",
    )


def _share(
    check: CertificateCheck, share: float, bound: float, beyond: float, nights: int
) -> CertificateCheck:
    """Return `check` with a share of the nights that is on the right side of `bound`, or beyond."""
    return replace(
        check,
        value=share,
        truth=bound,
        error=beyond,
        uncertainty=2 * math.sqrt(bound * (1 - bound) / nights),
    )


def spread_of(values: _Values) -> float:
    """Return the standard deviation that normal values would have, as a share.

    The quartiles show it and, of what has long tails, the middle nine tenths.
    """
    least, low, middle, high, most = np.percentile(values, (5, 25, 50, 75, 95))
    return float(max((high - low) / 1.349, (most - least) / 3.290) / middle)


@lru_cache(maxsize=1)
def measured_noise() -> Series:
    """Return this machine's noise: an engine's replications, read from the store that has them.

    EnvironmentFailedError where it can't be measured.
    """
    with tempfile.TemporaryDirectory(prefix="railgauge-calibrate-") as name:
        plan = Path(name) / "noise.yaml"
        plan.write_text(_PLAN, encoding="utf-8")
        observer = PlainProgress(io.StringIO())
        with (
            Request(str(Path(name) / "noise.db"), plan=plan, wait=_WAIT) as request,
            contextlib.ExitStack() as cleanup,
        ):
            run = execute(read(request, observer, cleanup)).run
            (series,) = request.store.series([run], [_METRIC])
    if len(series.values) < _REPLICATIONS:
        raise EnvironmentFailedError(
            f"of {_REPLICATIONS} replications of the noise {len(series.values)} were measured"
        )
    return series


def alarms(
    noise: Series, *, shift: float = 0.0, smallest: float = SMALLEST, nights: int = NIGHTS
) -> float:
    """Return the share of nights in which the gate calls the case slower that may be shifted.

    Without a `shift` (a share) it may be any of the cases. A change matters from the share
    `smallest` on.
    """
    draw = np.random.default_rng(_SEED)
    runs = tuple(range(_BASELINE_RUNS))
    sides = Selection("baseline", runs), Selection("night", (_BASELINE_RUNS,))
    alarmed = 0
    for _ in range(nights):
        compared = compare(_night(noise, draw, shift, smallest), *sides)
        slower = {result.test for result in compared.of("slower")}
        alarmed += "shifted" in slower if shift else bool(slower)
    return alarmed / nights


def _changed(share: float, fault: Fault | None) -> float:
    return share if fault is None else fault.change(share)


def _night(noise: Series, draw: np.random.Generator, shift: float, smallest: float) -> ReadRuns:
    """Return a baseline and the run of a night, all drawn from the noise."""
    tests = ("shifted", *(f"case {number}" for number in range(1, _CASES)))
    planned = [PlannedCase(test, noise.case, _PER_NIGHT) for test in tests]
    series: dict[int, Mapping[tuple[str, str], Mapping[str, Series]]] = {}
    for run in range(_BASELINE_RUNS + 1):
        of_run = {}
        for test in tests:
            values = draw.choice(noise.values, _PER_NIGHT)
            if test == "shifted" and run == _BASELINE_RUNS:
                values = values * (1 - shift)
            suspect = np.zeros(_PER_NIGHT, np.bool_)
            of_test = replace(
                noise, run=run, test=test, values=values, suspect=suspect, planned=_PER_NIGHT
            )
            of_run[test, noise.case.key] = {_METRIC: of_test}
        series[run] = of_run
    return ReadRuns(
        dict.fromkeys(series, tuple(planned)),
        series,
        {run: {(noise.case.engine, _METRIC): smallest} for run in series},
    )
