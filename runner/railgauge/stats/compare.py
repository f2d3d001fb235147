"""Which of many series changed from one run to another, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from railgauge.stats.between_runs import BETWEEN_RUNS
from railgauge.stats.corrections import Corrected, RunValues, correct
from railgauge.stats.estimates import estimate
from railgauge.stats.multiple import benjamini_hochberg
from railgauge.stats.rank_test import least_p
from railgauge.stats.verdict import Change, Judged, judge

_Values = NDArray[np.float64]
BETTER = ("higher", "lower")


class Side(NamedTuple):
    """One side of a comparison: the values of each of its runs, in order of measurement."""

    runs: Sequence[_Values]


class Compared(NamedTuple):
    """What became of a series.

    `ratio` is the second over the first (Hodges and Lehmann), between `low` and `high` with 95 %
    confidence. Where a value isn't above 0 `ratio` is NaN, and `low` and `high` bound the
    difference in the values' unit. `p` is that of the rank test, corrected for what replications
    and runs have in common; `q` the same among all pairs: NaN where a pair has too few values to
    be judged. `effect` is how often a value of the second is better than one of the first, ties
    counted half (Vargha and Delaney's A): 0.5 where nothing changed. `n` counts the values of both
    sides. `why` says in words what the change rests on, `few_runs` whether it takes more runs
    on the first side to tell.
    """

    change: Change
    ratio: float
    low: float
    high: float
    p: float
    q: float
    effect: float
    n: tuple[int, int]
    why: str
    few_runs: bool = False


def compare_all(
    pairs: Sequence[tuple[Side, Side]],
    better: Sequence[str],
    smallest: Sequence[float],
    *,
    level: float = 0.05,
    between_runs: float = BETWEEN_RUNS,
) -> list[Compared]:
    """Compare the first with the second side of each pair; what changed by chance is rare.

    `better` is "higher" or "lower" for each pair, `smallest` the least change that matters as a
    share (0.02). Of what is called faster or slower at most a share `level` is so by chance.
    Where nothing shows what runs differ by, their standard deviation is taken to be `between_runs`.
    docs/compare.md has the rules. Values that aren't finite don't count. ValueError where `better`
    is something else.
    """
    wrong = set(better) - set(BETTER)
    if wrong:
        raise ValueError(f"better is {min(wrong)!r}: only what has a direction can be compared")
    runs = _finite(
        [
            RunValues(number, place, np.asarray(values, np.float64))
            for number, pair in enumerate(pairs)
            for place, side in enumerate(pair)
            for values in side.runs
            if len(values)
        ]
    )
    both = _joined(len(pairs), runs)
    those = list(zip(better, smallest, strict=True))
    kinds = {kind: number for number, kind in enumerate(dict.fromkeys(those))}
    group = np.array([kinds[kind] for kind in those], np.intp)
    found = correct(estimate(both), runs, group, np.asarray(smallest, np.float64), between_runs)
    enough = np.array([least_p(len(first), len(second)) <= level for first, second in both], bool)
    q, within = (
        benjamini_hochberg(np.where(enough, p, np.nan)) for p in (found.found.p, found.within)
    )
    tests = int(enough.sum())
    told = _told(found)
    _bound(told, found, both)
    return [
        _compared(
            told,
            number,
            Judged(
                n=(len(first), len(second)),
                share=float(told.share[number]),
                low=float(told.low_share[number]),
                high=float(told.high_share[number]),
                error=float(found.found.error[number]),
                q=float(q[number]),
                q_within=float(within[number]),
                factor=float(found.factors[number]),
                tests=tests,
                smallest=smallest[number],
                level=level,
                higher=better[number] == "higher",
                relative=bool(found.found.relative[number]),
                step=float(found.found.step[number]),
                between=float(found.between[number]),
                by_runs=bool(found.by_runs[number]),
                assumed=bool(found.assumed[number]),
                centre=float(found.centre[number]),
                greater=float(told.greater[number]),
                # Asked for where something differs.
                mean=_by_mean(first, second) if within[number] <= level else 0.0,
            ),
        )
        for number, (first, second) in enumerate(both)
    ]


def _finite(runs: list[RunValues]) -> list[RunValues]:
    """Return the runs without values that aren't finite, of which there are next to never any."""
    if not runs or np.isfinite(np.concatenate([run.values for run in runs])).all():
        return runs
    kept = [run._replace(values=run.values[np.isfinite(run.values)]) for run in runs]
    return [run for run in kept if len(run.values)]


def _joined(count: int, runs: Sequence[RunValues]) -> list[tuple[_Values, _Values]]:
    parts: list[tuple[list[_Values], list[_Values]]] = [([], []) for _ in range(count)]
    for run in runs:
        parts[run.pair][run.side].append(run.values)
    nothing = np.empty(0)

    def join(those: list[_Values]) -> _Values:
        return those[0] if len(those) == 1 else np.concatenate(those) if those else nothing

    return [(join(first), join(second)) for first, second in parts]


def _by_mean(first: _Values, second: _Values) -> float:
    before = abs(float(first.mean()))
    return (float(second.mean()) - float(first.mean())) / before if before else 0.0


class _Told(NamedTuple):
    """How results are told, (m,) each: the change as a share of the first, and in the unit."""

    share: _Values
    low_share: _Values
    high_share: _Values
    ratio: _Values
    low: _Values
    high: _Values
    p: _Values
    greater: _Values


def _told(found: Corrected) -> _Told:
    of = found.found
    # A ratio may be greater than the greatest number there is.
    with np.errstate(over="ignore"):
        share, low, high = (
            np.where(of.log, np.expm1(each), each) for each in (of.shift, of.low, of.high)
        )
    return _Told(
        share,
        low,
        high,
        np.where(of.log, 1 + share, np.nan),
        np.where(of.log, 1 + low, low * of.scale),
        np.where(of.log, 1 + high, high * of.scale),
        of.p,
        of.greater,
    )


def _bound(told: _Told, found: Corrected, both: Sequence[tuple[_Values, _Values]]) -> None:
    """Let no interval say that values which are never below 0 may have fallen below it."""
    of = found.found
    for number in np.flatnonzero(~of.log & of.relative & (told.low_share < -1)).tolist():
        if all(side.min() >= 0 for side in both[number]):
            told.low_share[number], told.low[number] = -1, -of.scale[number]


def _compared(told: _Told, number: int, judged: Judged) -> Compared:
    change, why = judge(judged)
    greater = float(told.greater[number])
    return Compared(
        change=change,
        ratio=float(told.ratio[number]),
        low=float(told.low[number]),
        high=float(told.high[number]),
        p=float(told.p[number]),
        q=judged.q,
        effect=greater if judged.higher else 1 - greater,
        n=judged.n,
        why=why,
        few_runs=change == "not enough data" and judged.few_runs,
    )
