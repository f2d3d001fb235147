"""Which of many series changed from one run to another, and by how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from railgauge.base.arrays import NDArray, np
from railgauge.stats.baseline_runs import RunValues
from railgauge.stats.between_runs import BETWEEN_RUNS
from railgauge.stats.corrections import Corrected, correct
from railgauge.stats.estimates import estimate
from railgauge.stats.judgement import Change, Judged, judge
from railgauge.stats.multiple import benjamini_hochberg
from railgauge.stats.rank_test import least_p

_Values: TypeAlias = "NDArray[np.float64]"
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
    sides. `reason` says in words what the change rests on, `few_runs` whether that is that it takes
    more runs on the first side to decide.
    """

    change: Change
    ratio: float
    low: float
    high: float
    p: float
    q: float
    effect: float
    n: tuple[int, int]
    reason: str
    few_runs: bool = False


def compare_all(
    pairs: Sequence[tuple[Side, Side]],
    better: Sequence[str],
    smallest: Sequence[float],
    *,
    names: Sequence[tuple[Hashable, str]] | None = None,
    level: float = 0.05,
    between_runs: float = BETWEEN_RUNS,
    extremes: Sequence[bool] | None = None,
) -> list[Compared]:
    """Compare the first with the second side of each pair; what changed by chance is rare.

    `better` is "higher" or "lower" for each pair, `smallest` the least change that matters as a
    share (0.02), `names` of what case and which metric each pair is: without, each is of another
    case. Of what is called faster or slower at most a share `level` is so by chance.
    Where nothing shows what runs differ by, their standard deviation is taken to be `between_runs`;
    with 0 only the first side's runs, three or more, show what they differ by, and not other pairs.
    `extremes` says which pairs are of the slowest few of many values: they differ by more.
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
    joined = _joined(len(pairs), runs)
    rules = list(zip(better, smallest, strict=True))
    group = _kinds(rules, names or [(number, "") for number in range(len(pairs))])
    limits = np.asarray(smallest, np.float64)
    slowest = np.zeros(len(pairs), bool) if extremes is None else np.asarray(extremes, bool)
    corrected = correct(estimate(joined), runs, group, limits, between_runs, slowest)
    changes = _changes(corrected)
    _bound(changes, corrected, joined)
    all_judged = _judged(joined, corrected, changes, rules, level)
    return [_compared(changes, number, judged) for number, judged in enumerate(all_judged)]


def _kinds(
    rules: Sequence[tuple[str, float]], names: Sequence[tuple[Hashable, str]]
) -> NDArray[np.intp]:
    """Return the kind (m,) of each pair, from 0: its direction and the smallest change.

    What pairs of a kind say of each other supposes that they are independent. Metrics of a case,
    which are of the same round trips, aren't: where a case has several of a kind, each is its own.
    """
    counts = Counter((rule, case) for rule, (case, _) in zip(rules, names, strict=True))
    repeated = {rule for (rule, _), count in counts.items() if count > 1}
    kinds = [
        (rule, metric if rule in repeated else "")
        for rule, (_, metric) in zip(rules, names, strict=True)
    ]
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    return np.array([numbers[kind] for kind in kinds], np.intp)


def _judged(
    joined: Sequence[tuple[_Values, _Values]],
    corrected: Corrected,
    changes: _Changes,
    rules: Sequence[tuple[str, float]],
    level: float,
) -> Iterator[Judged]:
    """Yield what the verdict on each pair rests on, with p corrected for the number of pairs."""
    estimates = corrected.estimates
    enough = np.array([least_p(len(first), len(second)) <= level for first, second in joined], bool)
    q, within = (
        benjamini_hochberg(np.where(enough, p, np.nan)) for p in (estimates.p, corrected.within)
    )
    tests = int(enough.sum())
    for number, ((first, second), (better, smallest)) in enumerate(zip(joined, rules, strict=True)):
        yield Judged(
            n=(len(first), len(second)),
            share=float(changes.share[number]),
            low=float(changes.low_share[number]),
            high=float(changes.high_share[number]),
            error=float(estimates.error[number]),
            q=float(q[number]),
            q_within=float(within[number]),
            factor=float(corrected.factors[number]),
            tests=tests,
            smallest=smallest,
            level=level,
            higher=better == "higher",
            log=bool(estimates.log[number]),
            relative=bool(estimates.relative[number]),
            step=float(estimates.step[number]),
            between=float(corrected.between[number]),
            by_runs=bool(corrected.by_runs[number]),
            assumed=bool(corrected.assumed[number]),
            centre=float(corrected.centre[number]),
            greater=float(changes.greater[number]),
            # Needed only where something differs.
            mean=_by_mean(first, second) if within[number] <= level else 0.0,
        )


def _finite(runs: list[RunValues]) -> list[RunValues]:
    """Return the runs without values that aren't finite, of which there are next to never any."""
    if not runs or np.isfinite(np.concatenate([run.values for run in runs])).all():
        return runs
    finite = [run._replace(values=run.values[np.isfinite(run.values)]) for run in runs]
    return [run for run in finite if len(run.values)]


def _joined(count: int, runs: Sequence[RunValues]) -> list[tuple[_Values, _Values]]:
    parts: list[tuple[list[_Values], list[_Values]]] = [([], []) for _ in range(count)]
    for run in runs:
        parts[run.pair][run.side].append(run.values)
    empty = np.empty(0)

    def join(arrays: list[_Values]) -> _Values:
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays) if arrays else empty

    return [(join(first), join(second)) for first, second in parts]


def _by_mean(first: _Values, second: _Values) -> float:
    before = abs(float(first.mean()))
    return (float(second.mean()) - float(first.mean())) / before if before else 0.0


class _Changes(NamedTuple):
    """The change of each pair, (m,) each: as a share of the first side, and in the unit."""

    share: _Values
    low_share: _Values
    high_share: _Values
    ratio: _Values
    low: _Values
    high: _Values
    p: _Values
    greater: _Values


def _changes(corrected: Corrected) -> _Changes:
    estimates = corrected.estimates
    # A ratio may be greater than the greatest number there is.
    with np.errstate(over="ignore"):
        share, low, high = (
            np.where(estimates.log, np.expm1(bound), bound)
            for bound in (estimates.shift, estimates.low, estimates.high)
        )
    return _Changes(
        share,
        low,
        high,
        np.where(estimates.log, 1 + share, np.nan),
        np.where(estimates.log, 1 + low, low * estimates.scale),
        np.where(estimates.log, 1 + high, high * estimates.scale),
        estimates.p,
        estimates.greater,
    )


def _bound(
    changes: _Changes, corrected: Corrected, joined: Sequence[tuple[_Values, _Values]]
) -> None:
    """Let no interval say that values which are never below 0 may have fallen below it."""
    estimates = corrected.estimates
    for number in np.flatnonzero(
        ~estimates.log & estimates.relative & (changes.low_share < -1)
    ).tolist():
        if all(side.min() >= 0 for side in joined[number]):
            changes.low_share[number], changes.low[number] = -1, -estimates.scale[number]


def _compared(changes: _Changes, number: int, judged: Judged) -> Compared:
    change, reason = judge(judged)
    greater = float(changes.greater[number])
    return Compared(
        change=change,
        ratio=float(changes.ratio[number]),
        low=float(changes.low[number]),
        high=float(changes.high[number]),
        p=float(changes.p[number]),
        q=judged.q,
        effect=greater if judged.higher else 1 - greater,
        n=judged.n,
        reason=reason,
        few_runs=change == "not enough data" and judged.few_runs,
    )
