"""What runs differ by anyway, though nothing was changed: a change has to stand out from that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from railgauge.base.arrays import NDArray, np
from railgauge.stats import special
from railgauge.stats.spread import robust_spread, unbiased_spread
from railgauge.stats.tails import NORMAL, Tails, fit_tails

_Values: TypeAlias = "NDArray[np.float64]"
# Cases that it takes to see from the spreads of their runs what runs differ by: two say no more
# together than each by itself.
LEAST_LENDING = 3
# Cases that it takes to see how heavy tails are, and from how they scatter between two runs what
# these differ by: of ten, by simulation, chance hides too much of that.
LEAST_CASES, LEAST_SCATTERED = 10, 15
# So many show at least that runs differ by far more than is usual.
LEAST_FEW = 5
# What a machine's level is taken to differ by from run to run where nothing shows it, a standard
# deviation: 1 to 2 % is common.
BETWEEN_RUNS = 0.025
# What the slowest few of many values show, as a 99th percentile does, differs by far more: by so
# many times what its replications scatter by, as simulations need it for rare false alarms.
TIMES_WITHIN = 2.5
# What chance hardly shows of the centre with n cases is this / cbrt(n) standard errors, as it goes
# with the middle of the closest half.
_CENTRE = 2.0
# Fewer than 1 + this / n times the spread expected is chance: few cases often show as much.
_CHANCE = 10.0
# Degrees of freedom of the spread of n cases, by simulation: so that false alarms stay rare.
_DEGREES, _MORE_DEGREES = 0.5, 4.0
# Degrees of freedom that each difference of a run from the one before it is worth.
_OF_EACH = 0.5
# Shifts among which some may be changes have heavy tails where that is so much more likely, as a
# logarithm: 20 times.
_HEAVY = 3.0
# One or two runs of a case say little of it alone: its tails may be as heavy as Cauchy's.
_LEAST_DEGREES = 1.0
# Of more cases as many quantiles, for the spread.
_MOST = 300


class Scatter(NamedTuple):
    """By how much cases differ between two runs though nothing was changed, as logarithms.

    `centre` is what most have in common. Around it they differ by more than the replications' own
    spread explains: by the standard deviation `spread` beyond it if that is the same for all, by so
    many `times` as much, as the noisier half shows it, if noisier cases differ by more. `degrees`
    is how many degrees of freedom that has. `tails` are those of the
    shifts divided by their widened standard errors.
    """

    centre: float
    spread: float
    times: float
    degrees: float
    tails: Tails = NORMAL

    def widened(self, error: _Values) -> _Values:
        """Return the standard `error` (n,) with what cases differ by: whichever way makes it more.

        Shifts hardly show which way it is, and the wrong one makes alarms of the noisy cases or of
        the quiet ones.
        """
        wider: _Values = np.maximum(np.hypot(error, self.spread), self.times * error)
        return wider


def scatter(shift: _Values, error: _Values, degrees: _Values) -> Scatter:
    """Return what the cases' `shift` (n,) shares, given their standard `error` (n,) > 0
    and its `degrees` of freedom (n,).

    It is estimated from the cases that are most alike: the centre by the half that lies closest
    together, the spread as the one that makes Qn of the standardised shifts 1; so nearly half of
    the cases may really have changed. Nothing where chance would show as much, and of fewer than
    LEAST_SCATTERED.
    """
    if len(shift) < LEAST_SCATTERED:
        return Scatter(0.0, 0.0, 1.0, math.inf)
    middle = closest_half(shift)
    around = shift - middle
    shared = _spread_around(middle, around, error, degrees)
    return shared._replace(tails=_symmetric_tails(around / shared.widened(error)))


def spread_of_few(shift: _Values, error: _Values, degrees: _Values) -> float:
    """Return the spread that fewer cases than LEAST_SCATTERED show, 0 where it may be chance.

    They don't show that runs differ by little.
    """
    if len(shift) < LEAST_FEW:
        return 0.0
    centre = closest_half(shift)
    return _spread_around(centre, shift - centre, error, degrees).spread


def most_apart(medians: Sequence[float], runs: int, tests: int = 1, level: float = 0.05) -> float:
    """Return the most by which any of `tests` cases is off the mean of `runs` by chance.

    As a logarithm, with a probability of 1 - `level`, as the `medians` (n,) > 0 of earlier runs in
    order show it: by how much each differs from the one before it, so that changes that lasted
    count for little.
    """
    apart = np.diff(np.log(np.asarray(medians, np.float64)))
    spread = unbiased_spread(apart) / math.sqrt(2)
    # Each median is in two differences, and Qn uses 82 % of them.
    quantile = special.stdtrit(_OF_EACH * len(apart), 1 - level / max(tests, 1) / 2)
    return float(quantile) * spread * math.sqrt(1 + 1 / runs)


def tails_of_pairs(apart: _Values) -> Tails:
    """Return the tails of how far one more run is off the mean of two that are `apart` (n,).

    By how runs are alike, so in the unit of `apart`, and without what all cases have in common.
    """
    around = apart - closest_half(apart)
    spread = robust_spread(around, _MOST)
    if spread == 0:
        return NORMAL._replace(scale=0.0)
    tails = fit_tails(around / spread, least=_LEAST_DEGREES)
    # The variance of such a deviation is 3/2 of a run's, and that of a difference is twice a run's.
    return tails._replace(scale=tails.scale * spread * math.sqrt(3 / 4))


def _symmetric_tails(around: _Values) -> Tails:
    """Return the tails of deviations (n,) of which some may be changes.

    Two runs that are alike differ either way as often. So those that are all on one side, farther
    out than any on the other, are changes rather than tails: only the greatest counts.
    """
    outward = around[np.argsort(-np.abs(around), kind="stable")]
    other_side = np.flatnonzero(np.sign(outward) != np.sign(outward[0]))
    rest = outward[other_side[0] :] if len(other_side) else outward[:0]
    if len(rest) < LEAST_CASES:
        return NORMAL
    return fit_tails(np.append(rest, outward[0]), _HEAVY, _LEAST_DEGREES)


def _spread_around(centre: float, around: _Values, error: _Values, degrees: _Values) -> Scatter:
    """Return the scatter of shifts that are `around` (n,) a centre."""
    n = len(around)

    def beyond(spread: float, cases: slice | NDArray[np.intp] = slice(None)) -> float:
        scaled = around[cases] / np.hypot(error[cases], spread)
        return _standard(scaled, degrees[cases])

    excess = beyond(0.0)
    if abs(centre) < _CENTRE * excess * float(np.median(error)) / n ** (1 / 3):
        centre = 0.0
    if excess <= 1 + _CHANCE / n:
        return Scatter(centre, 0.0, 1.0, math.inf)
    low, high = 0.0, robust_spread(around, _MOST)
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > 1 else (low, middle)
    # Quiet cases would show a spread that is the same for all as many times their own.
    noisy = np.flatnonzero(error >= np.sort(error)[-min(max(n // 2, LEAST_CASES), n)])
    return Scatter(centre, high, max(beyond(0.0, noisy), 1.0), _DEGREES * n + _MORE_DEGREES)


def _standard(scaled: _Values, degrees: _Values) -> float:
    """Return Qn of shifts (n,) divided by their standard errors: 1 where these explain them."""
    # Errors that are estimates, too, make it greater: by so much in simulation (5 to 40 values).
    return unbiased_spread(scaled, _MOST) / (1 + 0.95 / float(np.median(degrees)))


class Variances(NamedTuple):
    """The variance of runs' medians of each case, (n,), and its degrees of freedom (n,)."""

    variance: _Values
    degrees: _Values


def moderated(variances: Variances) -> Variances:
    """Return what cases of the same kind say of each other's variance between runs.

    Three runs say little of it, fifty cases of three runs much: each variance is drawn to the
    common one as far as they are alike (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004). Fewer than
    LEAST_LENDING stay as they are, and those of which most don't differ, as by a coarse clock.
    """
    usable = (variances.variance > 0) & (variances.degrees > 0)
    if np.count_nonzero(usable) < max(LEAST_LENDING, len(usable) / 2):
        return variances
    half = variances.degrees[usable] / 2
    logs = np.log(variances.variance[usable]) - special.psi(half) + np.log(half)
    beyond = float(logs.var(ddof=1) - special.polygamma(1, half).mean())
    if beyond <= 0:
        # No more different than chance makes them.
        common = np.full(len(variances.variance), float(np.exp(logs.mean())))
        return Variances(common, np.full(len(common), variances.degrees[usable].sum()))
    prior = 2 * _inverse_trigamma(beyond)
    common_variance = float(np.exp(logs.mean() + special.psi(prior / 2) - np.log(prior / 2)))
    degrees = variances.degrees + prior
    return Variances(
        (variances.degrees * variances.variance + prior * common_variance) / degrees, degrees
    )


def closest_half(values: _Values) -> float:
    """Return the mean of the half of `values` that spans least."""
    ordered = np.sort(values)
    half = len(ordered) // 2 + 1
    spans = ordered[half - 1 :] - ordered[: len(ordered) - half + 1]
    start = int(np.argmin(spans))
    return float(ordered[start : start + half].mean())


def _inverse_trigamma(value: float) -> float:
    """Return x > 0 whose trigamma is `value` > 0: Newton's steps on its inverse, all one way."""
    x = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(special.polygamma(1, x))
        step = trigamma * (1 - trigamma / value) / float(special.polygamma(2, x))
        x += step
        if -step < 1e-8 * x:
            break
    return x
