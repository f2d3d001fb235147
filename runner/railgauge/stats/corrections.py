"""What makes a shift less certain than its values alone say: order, other runs, coarse clocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from railgauge.base.arrays import NDArray, np
from railgauge.stats import special
from railgauge.stats.baseline_runs import (
    RunShifts,
    RunValues,
    as_replications,
    run_shifts,
    student,
)
from railgauge.stats.between_runs import (
    LEAST_SCATTERED,
    Variances,
    moderated,
    scatter,
    spread_of_few,
    tails_of_pairs,
)
from railgauge.stats.dependence import variance_factors
from railgauge.stats.estimates import LEVEL, Estimates
from railgauge.stats.tails import NORMAL

_Values: TypeAlias = "NDArray[np.float64]"
# Half a 95 % interval of the normal distribution.
_NORMAL = 1.96
# With so many degrees of freedom Student's distribution is the normal one.
_MANY = 1e9


class Corrected(NamedTuple):
    """Estimates with what else is known, (m,) each.

    `estimates` have intervals and p as they are in the end, `within` p after the correction for the
    order of values only, by which so many times (`factors`) fewer values count. `between` is what
    runs differ by anyway: half a 95 % interval, in units of the shift; `by_runs` where the first
    side's runs show that, `assumed` where nothing shows it, else by the other pairs. `centre` is
    what most pairs of a group shifted by.
    """

    estimates: Estimates
    within: _Values
    factors: _Values
    between: _Values
    by_runs: NDArray[np.bool_]
    assumed: NDArray[np.bool_]
    centre: _Values


def correct(
    estimates: Estimates,
    runs: Sequence[RunValues],
    group: NDArray[np.intp],
    smallest: _Values,
    between_runs: float,
    extremes: NDArray[np.bool_],
) -> Corrected:
    """Return `estimates` (m pairs) corrected; `group` (m,) numbers pairs of the same kind from 0.

    `smallest` (m,) is the change that matters, `between_runs` the standard deviation between runs
    (a share) where nothing shows it: what all of a group have in common is a change of its own only
    beyond both. Where that is 0 pairs don't show by how they scatter what runs differ by, either.
    Those of `extremes` (m,) are of the slowest few of many values.
    """
    owners = np.array([run.pair for run in runs], np.intp)
    factors = variance_factors([run.values for run in runs], owners, group)
    between_medians = run_shifts(estimates, runs, group, between_runs)
    by_runs = between_medians.by_runs
    # Medians of runs vary as much as the order of values makes them.
    factors[by_runs] = 1.0
    estimates = _thinned(estimates, factors)
    scattered = _scattered(estimates, group, between_medians, between_runs)
    error, degrees, between, centre, assumed = scattered[:5]
    # What differs by more than is usual shows it: two runs, a few cases, replications of a tail.
    usual = between_runs * np.sqrt(1 + 1 / np.maximum(between_medians.runs, 1))
    within = as_replications(estimates, runs, extremes & assumed)
    spread = np.maximum.reduce([usual, within, between_medians.error, between])[assumed]
    degrees[assumed] = _added(error[assumed], degrees[assumed], spread)
    error[assumed] = np.hypot(error[assumed], spread)
    between[assumed] = spread * _NORMAL
    centre[np.abs(centre) >= np.maximum(smallest, usual * _NORMAL)] = 0.0
    # Those of runs' medians hold the replications' own.
    error[by_runs] = between_medians.error[by_runs]
    degrees[by_runs] = between_medians.degrees[by_runs]
    elsewhere = by_runs | (between > 0) | (centre != 0)
    p = estimates.p.copy()
    moved = np.where(estimates.relative, estimates.shift - centre, between_medians.shift)
    # What only stands out as it didn't move with the others is no change the other way.
    moved[estimates.relative & (moved * estimates.shift < 0)] = 0.0
    by_others = np.where(by_runs, between_medians.p(moved), scattered.p(moved))
    p[elsewhere] = np.maximum(p, by_others)[elsewhere]
    between[by_runs] = between_medians.half_interval()[by_runs]
    final = _with_interval(estimates._replace(p=p), between, by_runs)
    return Corrected(final, estimates.p, factors, between, by_runs, assumed, centre)


class _Scattered(NamedTuple):
    """What pairs' shifts show by how they scatter within their groups, (m,) each.

    The standard error with what runs differ by and its degrees of freedom, as in `Corrected`, and
    Student's distribution that fits the tails, with a `tail_error` of 0 where nothing shows any.
    """

    error: _Values
    degrees: _Values
    between: _Values
    centre: _Values
    assumed: NDArray[np.bool_]
    tail_error: _Values
    tail_degrees: _Values

    def p(self, shift: _Values) -> _Values:
        """Return the two-sided p (m,) of this `shift` (m,)."""
        by_tails = student(shift, self.tail_error, self.tail_degrees)
        most: _Values = np.maximum(student(shift, self.error, self.degrees), by_tails)
        return most


def _scattered(
    estimates: Estimates,
    group: NDArray[np.intp],
    between_medians: RunShifts,
    between_runs: float,
) -> _Scattered:
    m = len(group)
    by_runs, apart = between_medians.by_runs, between_medians.apart
    tail_error, tail_degrees = np.zeros(m), np.full(m, _MANY)
    between, centre, assumed = np.zeros(m), np.zeros(m), np.zeros(m, bool)
    error, degrees = estimates.error.copy(), estimates.degrees.copy()
    for number in range(int(group.max(initial=-1)) + 1 if between_runs > 0 else 0):
        pairs = np.flatnonzero((group == number) & ~by_runs & estimates.relative)
        clear = pairs[estimates.log[pairs] & (error[pairs] > 0) & np.isfinite(error[pairs])]
        better = moderated(Variances(error[clear] ** 2, degrees[clear]))
        error[clear], degrees[clear] = np.sqrt(better.variance), better.degrees
        if len(clear) < LEAST_SCATTERED and not _stayed(estimates, pairs):
            assumed[pairs] = True
            between[pairs] = spread_of_few(estimates.shift[clear], error[clear], degrees[clear])
            continue
        shared = scatter(estimates.shift[clear], error[clear], degrees[clear])
        centre[pairs] = shared.centre
        within, error[pairs] = error[pairs], shared.widened(error[pairs])
        degrees[pairs] = np.minimum(degrees[pairs], shared.degrees)
        of_two = apart[clear][np.isfinite(apart[clear])]
        if len(of_two) >= LEAST_SCATTERED:
            tails, unit = tails_of_pairs(of_two), np.ones(len(pairs))
        else:
            tails, unit = shared.tails, error[pairs]
        half = error[pairs] * estimates.quantile[pairs]
        if tails.degrees < NORMAL.degrees:
            tail_error[pairs], tail_degrees[pairs] = tails.scale * unit, tails.degrees
            half = np.maximum(half, tails.half(LEVEL) * unit)
        # Standard errors add up as squares.
        with np.errstate(invalid="ignore"):
            beyond = np.sqrt(np.maximum(half**2 - (within * estimates.quantile[pairs]) ** 2, 0))
        # Of too few values the error is infinite.
        few = ~np.isfinite(within)
        beyond[few] = shared.spread * estimates.quantile[pairs[few]]
        between[pairs] = beyond
    return _Scattered(error, degrees, between, centre, assumed, tail_error, tail_degrees)


def _with_interval(estimates: Estimates, between: _Values, by_runs: NDArray[np.bool_]) -> Estimates:
    """Return the estimates with intervals that have room for `between` and for a step."""
    below, above = (
        np.where(by_runs, np.maximum(half, between), np.hypot(half, between)) + estimates.step
        for half in (estimates.shift - estimates.low, estimates.high - estimates.shift)
    )
    return estimates._replace(low=estimates.shift - below, high=estimates.shift + above)


def _stayed(estimates: Estimates, pairs: NDArray[np.intp]) -> bool:
    """Return whether most of many pairs came within a step of a coarse clock again.

    Values that are all equal have no spread to scatter by.
    """
    clear = pairs[np.isfinite(estimates.error[pairs])]
    beyond = np.abs(estimates.shift[clear]) - estimates.step[clear]
    return len(clear) >= LEAST_SCATTERED and bool(np.median(beyond) <= 0)


def _added(error: _Values, degrees: _Values, spread: _Values) -> _Values:
    """Return the degrees of freedom of the standard `error` (n,) with a `spread` that is given.

    As Welch and Satterthwaite have it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        more = degrees * (1 + (spread / error) ** 2) ** 2
    return np.fmin(more, _MANY)


def _thinned(estimates: Estimates, factors: _Values) -> Estimates:
    """Return what values say that count for `factors` (m,) times fewer."""
    wider = np.sqrt(factors)
    below, above = (
        half * wider for half in (estimates.shift - estimates.low, estimates.high - estimates.shift)
    )
    # Of values in two groups the interval is skewed. Widened, it may reach 0 where p still says
    # that it doesn't: then it's the interval that counts.
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.abs(estimates.shift) / np.where(estimates.shift > 0, below, above)
    p = 2 * special.ndtr(special.ndtri(estimates.p / 2) / wider)
    p = np.fmax(
        p, np.where(errors > 0, 2 * special.ndtr(errors * special.ndtri((1 - LEVEL) / 2)), p)
    )
    return estimates._replace(
        p=np.where(factors > 1, p, estimates.p),
        low=estimates.shift - below,
        high=estimates.shift + above,
        error=estimates.error * wider,
        degrees=np.maximum((estimates.degrees + 2) / factors - 2, 1),
    )
