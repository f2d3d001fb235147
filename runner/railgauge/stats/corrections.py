"""What makes a shift less certain than its values alone say: order, other runs, coarse clocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from railgauge.stats.between_runs import LEAST_SCATTERED, Variances, moderated, scatter
from railgauge.stats.dependence import stacked, variance_factors
from railgauge.stats.estimates import LEVEL, Estimates
from railgauge.stats.special import ndtr, ndtri, stdtr, stdtrit

_Values = NDArray[np.float64]
# With so many runs on the first side they themselves tell what runs differ by.
LEAST_RUNS = 3
# Half a 95 % interval of the normal distribution.
_NORMAL = 1.96
# With so many degrees of freedom Student's distribution is the normal one.
_MANY = 1e9


class RunValues(NamedTuple):
    """One run's `values` (n,), of pair number `pair`, on its first (0) or second (1) `side`."""

    pair: int
    side: int
    values: _Values


class Corrected(NamedTuple):
    """Estimates with what else is known, (m,) each.

    `found` has intervals and p as they are in the end, `within` p after the correction for the
    order of values only, by which so many times (`factors`) fewer values count. `between` is what
    runs differ by anyway: half a 95 % interval, in units of the shift; `by_runs` where that is told
    by the first side's runs, `assumed` where nothing tells it, else by the other pairs. `centre` is
    what most pairs of a group shifted by.
    """

    found: Estimates
    within: _Values
    factors: _Values
    between: _Values
    by_runs: NDArray[np.bool_]
    assumed: NDArray[np.bool_]
    centre: _Values


def correct(
    found: Estimates,
    runs: Sequence[RunValues],
    group: NDArray[np.intp],
    smallest: _Values,
    between_runs: float,
) -> Corrected:
    """Return `found` (m pairs) corrected; `group` (m,) numbers pairs of the same kind from 0 on.

    `smallest` (m,) is the change that matters, `between_runs` the standard deviation between runs
    (a share) where nothing shows it: what all of a group have in common is a change of its own only
    beyond both.
    """
    m = len(group)
    owners = np.array([run.pair for run in runs], np.intp)
    factors = variance_factors([run.values for run in runs], owners, group)
    by_runs, shown = _shown_by_runs(found, runs, group)
    # Medians of runs vary as much as the order of values makes them.
    factors[by_runs] = 1.0
    found = _thinned(found, factors)
    between, centre, assumed = np.zeros(m), np.zeros(m), np.zeros(m, bool)
    error, degrees = found.error.copy(), found.degrees.copy()
    usual = between_runs * np.sqrt(1 + 1 / np.maximum(shown.runs, 1))
    for number in range(int(group.max(initial=-1)) + 1):
        those = np.flatnonzero((group == number) & ~by_runs & found.relative)
        clear = those[found.log[those] & (error[those] > 0) & np.isfinite(error[those])]
        better = moderated(Variances(error[clear] ** 2, degrees[clear]))
        error[clear], degrees[clear] = np.sqrt(better.variance), better.degrees
        if len(clear) < LEAST_SCATTERED and not _stayed(found, those):
            assumed[those] = between_runs > 0
            continue
        seen = scatter(found.shift[clear], error[clear], degrees[clear])
        centre[those] = seen.centre
        within, error[those] = error[those], seen.widened(error[those])
        degrees[those] = np.minimum(degrees[those], seen.degrees)
        # Standard errors add up as squares.
        with np.errstate(invalid="ignore"):
            beyond = np.sqrt(np.maximum(error[those] ** 2 - within**2, 0))
        # Of too few values the error is infinite.
        beyond[~np.isfinite(within)] = seen.spread
        between[those] = beyond * found.quantile[those]
    # Two runs that differ by more than is usual show that much.
    spread = np.maximum(usual, shown.error)[assumed]
    degrees[assumed] = _added(error[assumed], degrees[assumed], spread)
    error[assumed] = np.hypot(error[assumed], spread)
    between[assumed] = spread * _NORMAL
    centre[np.abs(centre) >= np.maximum(smallest, usual * _NORMAL)] = 0.0
    # Those of runs' medians hold the replications' own.
    error[by_runs], degrees[by_runs] = shown.error[by_runs], shown.degrees[by_runs]
    elsewhere = by_runs | (between > 0) | (centre != 0)
    p = found.p.copy()
    moved = np.where(found.relative, found.shift - centre, shown.shift)
    # What only stands out as it didn't move with the others is no change the other way.
    moved[found.relative & (moved * found.shift < 0)] = 0.0
    p[elsewhere] = np.maximum(p, _student(moved, error, degrees))[elsewhere]
    between[by_runs] = (shown.error * stdtrit(shown.degrees, (1 + LEVEL) / 2))[by_runs]
    low, high = (
        np.where(by_runs, np.maximum(half, between), np.hypot(half, between)) + found.step
        for half in (found.shift - found.low, found.high - found.shift)
    )
    final = found._replace(p=p, low=found.shift - low, high=found.shift + high)
    return Corrected(final, found.p, factors, between, by_runs, assumed, centre)


def _stayed(found: Estimates, those: NDArray[np.intp]) -> bool:
    """Return whether most of many pairs came within a step of a coarse clock again.

    Values that are all equal have no spread to scatter by.
    """
    clear = those[np.isfinite(found.error[those])]
    beyond = np.abs(found.shift[clear]) - found.step[clear]
    return len(clear) >= LEAST_SCATTERED and bool(np.median(beyond) <= 0)


def _added(error: _Values, degrees: _Values, spread: _Values) -> _Values:
    """Return the degrees of freedom of the standard `error` (n,) with a `spread` that is given.

    As Welch and Satterthwaite have it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        more = degrees * (1 + (spread / error) ** 2) ** 2
    return np.fmin(more, _MANY)


def _thinned(found: Estimates, factors: _Values) -> Estimates:
    """Return what values say that count for `factors` (m,) times fewer."""
    wider = np.sqrt(factors)
    below, above = (half * wider for half in (found.shift - found.low, found.high - found.shift))
    # Of values in two groups the interval is skewed. Widened, it may reach 0 where p still says
    # that it doesn't: then it's the interval that counts.
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.abs(found.shift) / np.where(found.shift > 0, below, above)
    told = 2 * ndtr(ndtri(found.p / 2) / wider)
    told = np.fmax(told, np.where(errors > 0, 2 * ndtr(errors * ndtri((1 - LEVEL) / 2)), told))
    return found._replace(
        p=np.where(factors > 1, told, found.p),
        low=found.shift - below,
        high=found.shift + above,
        error=found.error * wider,
        degrees=np.maximum((found.degrees + 2) / factors - 2, 1),
    )


def _student(shift: _Values, error: _Values, degrees: _Values) -> _Values:
    """Return Student's two-sided p; 0 where the error is infinite, that is unknown."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(shift == 0, 0.0, np.abs(shift) / error)
    return np.where(np.isfinite(error), 2 * stdtr(degrees, -t), 0.0)


class _Shown(NamedTuple):
    """By how much sides differ as their runs show it, the standard error, its degrees of freedom,
    and how many runs the first side has; (m,) each.
    """

    shift: _Values
    error: _Values
    degrees: _Values
    runs: _Values


def _shown_by_runs(
    found: Estimates, runs: Sequence[RunValues], group: NDArray[np.intp]
) -> tuple[NDArray[np.bool_], _Shown]:
    """Return where the first side has runs enough (m,), and what they show.

    By the prediction interval of one more run's median, from the variance of the first side's
    medians. However many runs the second side has they count as one: those of a night, or one and
    the run that confirms it, have what the night has. Of runs of which most values are 0 the means
    are taken, as their medians say nothing.
    """
    m = len(group)
    counts, sums = (np.zeros((2, m)) for _ in range(2))
    sides, owners = (np.array([run[field] for run in runs], np.intp) for field in (1, 0))
    medians = np.empty(len(runs))
    for places, rows in stacked([run.values for run in runs]):
        relative = found.relative[owners[places]]
        medians[places] = np.where(relative, np.median(rows, axis=1), rows.mean(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        medians = np.where(found.log[owners], np.log(medians), medians / found.scale[owners])
    np.add.at(counts, (sides, owners), 1)
    np.add.at(sums, (sides, owners), medians)
    means = sums / np.maximum(counts, 1)
    around = np.where(sides == 0, medians - means[sides, owners], 0.0)
    degrees = np.maximum(counts[0] - 1, 0)
    variance = np.bincount(owners, around**2, m) / np.maximum(degrees, 1)
    by_runs = (counts[0] >= LEAST_RUNS) & (counts[1] > 0)
    for number in range(int(group.max(initial=-1)) + 1):
        those = np.flatnonzero((group == number) & by_runs & found.relative)
        better = moderated(Variances(variance[those], degrees[those]))
        variance[those], degrees[those] = better
    error = np.sqrt(variance * (1 / np.maximum(counts[0], 1) + 1))
    return by_runs, _Shown(means[1] - means[0], error, np.maximum(degrees, 1), counts[0])
