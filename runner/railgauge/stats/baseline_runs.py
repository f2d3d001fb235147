"""What the runs of a baseline say of the run after them, and how far that can be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from railgauge.base.arrays import NDArray, np
from railgauge.stats import special
from railgauge.stats.between_runs import (
    LEAST_LENDING,
    TIMES_WITHIN,
    Variances,
    closest_half,
    moderated,
)
from railgauge.stats.dependence import stacked
from railgauge.stats.estimates import LEVEL, Estimates
from railgauge.stats.spread import unbiased_spread
from railgauge.stats.tails import NORMAL, Tails, fit_tails, student_likelihoods

_Values: TypeAlias = "NDArray[np.float64]"
# With so many runs on the first side they themselves show what runs differ by.
LEAST_RUNS = 3
# The median of the absolute values of a normal distribution, in standard deviations.
_MEDIAN = 0.6745
# The least p that is worth distinguishing from 0: some 8 standard deviations.
_LEAST_P = 1e-15
# What a machine's level is taken to differ by is Student's with so many degrees of freedom, whose
# standard deviation is sqrt(3): heavy tails, as it is a guess.
_GUESS = Tails(3.0, 1 / math.sqrt(3.0))
# Runs that differ by less than the guess show so: it is no more than so many times what they show.
_STEADIER = 2.0
# However many runs one or two cases have, they don't show how heavy the tails are. The fewer, the
# more false alarms: by simulation it takes this / (degrees of all runs) less for at most 5 %.
_MOST_DEGREES, _OF_FEW = 4.25, 2.0
# The guess is a second look, and may be wrong: its p counts so many times.
_LOOKS = 3.0
# What a case did beyond the others is another second look.
_BESIDE = 2.0
# A case's runs differ by more than those of others where chance has that less often, and all cases
# of a run have as much in common.
_ODD = 0.01
# What differs by as much as is usual rarely shows more than so many times that.
_CHANCE = 1.5
# Cases differ in how they spread where that is so much more likely, as a logarithm.
_DIFFERENT = 10.0


class RunValues(NamedTuple):
    """One run's `values` (n,), of pair number `pair`, on its first (0) or second (1) `side`."""

    pair: int
    side: int
    values: _Values


class _Kind(NamedTuple):
    """What the baseline's runs of all pairs of a kind say of each other, each left out in turn.

    `scores` are the tails of what Student's p make of them, as deviations of a normal distribution:
    NORMAL where these p are right. `pooled` are those of the deviations themselves, in units of
    `unit`, where the cases may spread alike; None where they don't.
    """

    scores: Tails = NORMAL
    pooled: Tails | None = None
    unit: float = 1.0

    def p(self, shift: _Values, error: _Values, degrees: _Values, farther: _Values) -> _Values:
        """Return the two-sided p (k,) of a `shift` (k,) of the kind's pairs."""
        p = student(shift, error, degrees)
        scores = -special.ndtri(np.maximum(p, np.finfo(np.float64).tiny) / 2)
        most: _Values = np.maximum(p, self.scores.p(scores))
        if self.pooled is not None:
            most = np.maximum(most, self.pooled.p(shift / (farther * self.unit)))
        return most

    def half(self, error: _Values, degrees: _Values, farther: _Values, level: float) -> _Values:
        """Return half of what a shift may be with this confidence though nothing changed, (k,)."""
        p = min(2 * special.ndtr(-self.scores.half(level)), 1 - level)
        half: _Values = error * special.stdtrit(degrees, 1 - p / 2)
        if self.pooled is not None:
            half = np.maximum(half, self.pooled.half(level) * self.unit * farther)
        return half


class _Beside(NamedTuple):
    """What pairs of a kind say whose runs are off together: what each did beyond the others.

    The pairs' `places` (k,), the shift that most have in `common`, the standard `error` (k,) > 0
    and its `degrees` of freedom (k,) of what is beyond it, and what the runs say of that.
    """

    places: NDArray[np.intp]
    common: float
    error: _Values
    degrees: _Values
    kind: _Kind

    def p(self, shift: _Values, farther: _Values) -> _Values:
        """Return the two-sided p (k,) of what of the pairs' `shift` (k,) is not in common."""
        beyond = np.maximum(np.abs(shift) - abs(self.common), 0.0)
        return _BESIDE * self.kind.p(beyond, self.error, self.degrees, farther)

    def half(self, farther: _Values) -> _Values:
        """Return half of what the pairs' shift may be though no case changed by itself, (k,)."""
        level = 1 - (1 - LEVEL) / _BESIDE
        return abs(self.common) + self.kind.half(self.error, self.degrees, farther, level)


class RunShifts(NamedTuple):
    """By how much sides differ as their runs show it, (m,) each.

    The `shift` with its standard `error` and its `degrees` of freedom, and how many `runs` the
    first side has; `by_runs` where these are enough. `likely` and `likely_degrees` are the error
    with what is guessed, where cases are few and their runs differ by no more than is usual, else
    the same. `usual` is the standard error that it is taken to have at most where its own runs show
    no more. `kinds` has what the cases of a kind say together, with their places, `beside` what
    those say that are off together; `apart` is by how much the second of two runs of the first side
    is above the first, NaN where there are more or fewer.
    """

    shift: _Values
    error: _Values
    degrees: _Values
    runs: _Values
    by_runs: NDArray[np.bool_]
    likely: _Values
    likely_degrees: _Values
    usual: _Values
    kinds: Sequence[tuple[NDArray[np.intp], _Kind]]
    beside: Sequence[_Beside]
    apart: _Values

    def p(self, shift: _Values) -> _Values:
        """Return the two-sided p (m,) of this `shift` (m,), in place of its own."""
        p = student(shift, self.likely, self.likely_degrees)
        farther = self._farther()
        for places, kind in self.kinds:
            of_kind = self.likely[places], self.likely_degrees[places]
            p[places] = kind.p(shift[places], *of_kind, farther[places])
        for beside in self.beside:
            own = beside.p(shift[beside.places], farther[beside.places])
            p[beside.places] = np.minimum(p[beside.places], own)
        # So a great change shows though three runs say little of what they differ by.
        error = np.maximum(self.usual, self.error)
        by_guess = _LOOKS * student(shift / _GUESS.scale, error, _GUESS.degrees)
        least: _Values = np.where(self._as_usual(), np.minimum(p, by_guess), p)
        return least

    def half_interval(self) -> _Values:
        """Return half of what a shift may be with 95 % confidence though nothing changed, (m,)."""
        half = np.minimum(
            self.error * special.stdtrit(self.degrees, (1 + LEVEL) / 2),
            self.likely * special.stdtrit(self.likely_degrees, (1 + LEVEL) / 2),
        )
        farther = self._farther()
        for places, kind in self.kinds:
            of_kind = self.error[places], self.degrees[places], farther[places]
            half[places] = kind.half(*of_kind, LEVEL)
        for beside in self.beside:
            own = beside.half(farther[beside.places])
            half[beside.places] = np.minimum(half[beside.places], own)
        by_guess = _GUESS.half(1 - (1 - LEVEL) / _LOOKS) * np.maximum(self.usual, self.error)
        least: _Values = np.where(self._as_usual(), np.minimum(half, by_guess), half)
        return least

    def _as_usual(self) -> NDArray[np.bool_]:
        """Return where the runs may differ by no more than is usual."""
        return self.error <= _CHANCE * self.usual

    def _farther(self) -> _Values:
        """Return how much farther than from the true level one more run is from the runs' mean."""
        return np.sqrt(1 + 1 / np.maximum(self.runs, 1))


def student(shift: _Values, error: _Values, degrees: _Values | float) -> _Values:
    """Return Student's two-sided p; 0 where the error is infinite, that is unknown."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(shift == 0, 0.0, np.abs(shift) / error)
    return np.where(np.isfinite(error), 2 * special.stdtr(degrees, -t), 0.0)


def run_shifts(
    estimates: Estimates,
    runs: Sequence[RunValues],
    group: NDArray[np.intp],
    between_runs: float,
) -> RunShifts:
    """Return what the runs of m pairs show; `group` (m,) numbers pairs of the same kind from 0.

    By the prediction interval of one more run's median, from the variance of the first side's
    medians. The second side's runs count as one, as they have what their night has. What is beyond
    `between_runs` with heavy tails stands out, too, unless the case's own runs differ by more.
    """
    m = len(group)
    medians, sides, owners = _medians(estimates, runs)
    counts, means = _means(medians, sides, owners, m)
    first = sides == 0
    around = medians[first] - means[0, owners[first]]
    degrees = np.maximum(counts[0] - 1, 0)
    variance = np.bincount(owners[first], around**2, m) / np.maximum(degrees, 1)
    by_runs = (counts[0] >= LEAST_RUNS) & (counts[1] > 0)
    likely, likely_degrees = variance.copy(), np.maximum(degrees, 1)
    kinds, beside = [], list[_Beside]()
    for number in range(int(group.max(initial=-1)) + 1):
        pairs = np.flatnonzero((group == number) & by_runs & estimates.relative)
        own = Variances(variance[pairs], degrees[pairs])
        if len(pairs) < LEAST_LENDING:
            likely[pairs], likely_degrees[pairs] = _with_guess(own, between_runs)
            continue
        of_kind = np.isin(owners[first], pairs)
        places, off = np.searchsorted(pairs, owners[first][of_kind]), around[of_kind]
        together = _together(places, off, variance[pairs])
        variance[pairs], degrees[pairs] = lent = _lent(own, together.cases)
        if together.cases > 1:
            beside.extend(_beside(pairs, together, estimates.shift[pairs]))
            lent = _with_guess(lent, between_runs, alone=True)
        else:
            kinds.append((pairs, _left_out(places, off)))
        likely[pairs], likely_degrees[pairs] = lent
    farther = np.sqrt(1 + 1 / np.maximum(counts[0], 1))
    error, likely = np.sqrt(variance) * farther, np.sqrt(likely) * farther
    usual = np.where(estimates.relative, between_runs * farther, 0.0)
    signs = 2 * _turns(owners[first]) - 1
    apart = np.where(counts[0] == 2, np.bincount(owners[first], signs * around, m), np.nan)
    by_own = means[1] - means[0], error, np.maximum(degrees, 1), counts[0], by_runs
    return RunShifts(*by_own, likely, likely_degrees, usual, kinds, beside, apart)


def as_replications(
    estimates: Estimates, runs: Sequence[RunValues], pairs: NDArray[np.bool_]
) -> _Values:
    """Return what `pairs` (m,) are taken to shift by as their replications scatter, (m,).

    A standard error in units of the shift, by the first side's runs: tonight's may scatter more as
    they are worse. 0 of other pairs.
    """
    spreads, counts = np.zeros(len(pairs)), np.zeros(len(pairs))
    for pair, side, values in runs:
        if side == 0 and pairs[pair]:
            scaled = np.log(values) if estimates.log[pair] else values / estimates.scale[pair]
            spreads[pair] += unbiased_spread(scaled)
            counts[pair] += 1
    counts = np.maximum(counts, 1)
    between: _Values = TIMES_WITHIN * spreads / counts
    return between * np.sqrt(1 + 1 / counts)


def _means(
    medians: _Values, sides: NDArray[np.intp], owners: NDArray[np.intp], pairs: int
) -> tuple[_Values, _Values]:
    """Return how many runs each pair has on both sides, and their means, (2, pairs) each."""
    counts, sums = (np.zeros((2, pairs)) for _ in range(2))
    np.add.at(counts, (sides, owners), 1)
    np.add.at(sums, (sides, owners), medians)
    return counts, sums / np.maximum(counts, 1)


def _medians(
    estimates: Estimates, runs: Sequence[RunValues]
) -> tuple[_Values, NDArray[np.intp], NDArray[np.intp]]:
    """Return each run's median in units of the shift, its side and its pair, (runs,) each.

    Of runs of which most values are 0 the means are taken, as their medians say nothing.
    """
    sides, owners = (np.array([run[field] for run in runs], np.intp) for field in (1, 0))
    medians = np.empty(len(runs))
    for places, rows in stacked([run.values for run in runs]):
        relative = estimates.relative[owners[places]]
        medians[places] = np.where(relative, np.median(rows, axis=1), rows.mean(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(estimates.log[owners], np.log(medians), medians / estimates.scale[owners])
    return scaled, sides, owners


class _Together(NamedTuple):
    """How far all cases of a run are off by the same: so many `cases` say what a single one would.

    `around` (n,) is by how much runs are off their cases' means and what is common to the run, of
    the cases with all runs that differ from it; `places` (n,) which case that is, `whole` (k,)
    where those are.
    """

    cases: float
    around: _Values
    places: NDArray[np.intp]
    whole: NDArray[np.intp]


def _together(places: NDArray[np.intp], around: _Values, variance: _Values) -> _Together:
    """Return what runs of a kind have in common where chance rarely makes it as much.

    By the variance of the runs' means over the cases beside what it were if cases were independent
    (the design effect; Kish, Survey Sampling, 1965).
    """
    counts = np.bincount(places)
    runs = int(counts.max())
    whole = np.flatnonzero(counts == runs)
    of_whole = counts[places] == runs
    numbers, off = np.searchsorted(whole, places[of_whole]), around[of_whole]
    turns = _turns(numbers)
    means = np.bincount(turns, off) / len(whole)
    alone = float(variance[whole].mean()) / len(whole)
    rest = off - means[turns]
    # What moved by exactly the same shows nothing of what it does by itself.
    apart = np.bincount(numbers, rest**2) > 1e-9 * (runs - 1) * variance[whole]
    own = apart[numbers]
    together = _Together(1.0, rest[own], (np.cumsum(apart) - 1)[numbers[own]], whole[apart])
    if len(whole) < LEAST_LENDING or alone == 0:
        return together
    effect = float((means**2).sum()) / (runs - 1) / alone
    chance = float(special.fdtrc(runs - 1, (runs - 1) * len(whole), effect))
    return together._replace(cases=effect) if effect > 1 and chance < _ODD else together


def _beside(pairs: NDArray[np.intp], together: _Together, shift: _Values) -> Iterator[_Beside]:
    """Yield what `pairs` (k,) with this `shift` (k,) say of what each did beyond the others.

    Nothing where too few have all runs and differ from what is common to them.
    """
    cases = len(together.whole)
    if cases < LEAST_LENDING:
        return
    runs = len(together.around) // cases
    squares = np.bincount(together.places, together.around**2)
    degrees = np.full(cases, runs - 1.0)
    # Without their mean n cases' squares are fewer by one case's.
    lent = _lent(Variances(squares / degrees * cases / (cases - 1), degrees))
    kind = _left_out(together.places, together.around)
    error = np.sqrt(lent.variance * (1 + 1 / runs))
    yield _Beside(pairs[together.whole], closest_half(shift), error, lent.degrees, kind)


def _lent(variances: Variances, together: float = 1.0) -> Variances:
    """Return the variances that cases lend each other, but those far above the others as they are.

    A case that flips between two levels isn't as steady as the rest (Phipson et al., Ann. Appl.
    Stat. 10, 2016). Where `together` cases say what a single one would, they have as many times
    fewer degrees of freedom.
    """
    better = moderated(variances)
    better = better._replace(degrees=np.maximum(better.degrees / together, variances.degrees))
    lent_degrees = np.maximum(better.degrees - variances.degrees, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = variances.variance / better.variance
    odd = special.fdtrc(np.maximum(variances.degrees, 1), lent_degrees, ratio) < _ODD
    return Variances(
        np.where(odd, variances.variance, better.variance),
        np.where(odd, variances.degrees, better.degrees),
    )


def _with_guess(own: Variances, between_runs: float, *, alone: bool = False) -> Variances:
    """Return the variances of a few cases with what is guessed of each, and what the others show.

    The guess is that of `_GUESS`, less where all runs differ by far less, as so many runs would
    show it, together with the other cases' runs: the posterior of a normal level with an inverse
    gamma prior of its variance (Gelman et al., Bayesian Data Analysis, 3rd edition 2013, section
    3.3). None is less than its own, and where a case's runs differ by more than is usual it stays
    so. `alone` each is taken for itself, as the others say the same.
    """
    squares, weight = own.degrees * own.variance, _GUESS.degrees
    all_squares, total = (
        np.full(len(values), 0.0 if alone else values.sum()) + (values if alone else 0.0)
        for values in (squares, own.degrees)
    )
    spread = np.sqrt(all_squares / np.maximum(total, 1))
    guess = weight * np.minimum(between_runs * _GUESS.scale, _STEADIER * spread) ** 2
    prior = (guess + all_squares - squares) / (weight + total - own.degrees)
    degrees = own.degrees + weight
    posterior = (squares + weight * prior) / degrees
    usual = own.variance <= (_CHANCE * between_runs) ** 2
    most = _MOST_DEGREES - _OF_FEW / np.maximum(total, 1)
    return Variances(
        np.maximum(np.where(usual, posterior, 0.0), own.variance),
        np.where(usual, np.minimum(degrees, most), own.degrees),
    )


def _left_out(places: NDArray[np.intp], around: _Values) -> _Kind:
    """Return what runs of a kind say when each is predicted from the others of its case.

    `around` (n,) is by how much a run is off its case's mean, `places` (n,) which case that is.
    """
    n = np.bincount(places)[places]
    squares = np.bincount(places, around**2)[places]
    # Without a value the mean is farther from it, and the squares are fewer.
    deviations = around * np.sqrt(n / (n - 1))
    rest = np.maximum(squares - deviations**2, 0)
    rest[rest <= 1e-9 * squares] = 0.0
    error, degrees = np.zeros(len(n)), np.ones(len(n))
    turns = _turns(places)
    for turn in range(int(turns.max()) + 1):
        out = turns == turn
        better = moderated(Variances(rest[out] / (n[out] - 2), n[out] - 2.0))
        error[out], degrees[out] = np.sqrt(better.variance), better.degrees
    clear = error > 0
    unit = float(np.median(np.abs(deviations))) / _MEDIAN
    if np.count_nonzero(clear) < LEAST_LENDING * LEAST_RUNS or unit == 0:
        return _Kind()
    deviations, error, degrees = deviations[clear], error[clear], degrees[clear]
    p = np.maximum(student(deviations, error, degrees), _LEAST_P)
    scores = fit_tails(-special.ndtri(p / 2))
    pooled = fit_tails(deviations / unit)
    different = student_likelihoods(deviations / error, degrees).sum() - np.log(error).sum()
    as_one = pooled.likelihood(deviations / unit) - len(deviations) * np.log(unit)
    return _Kind(scores, None if different > as_one + _DIFFERENT else pooled, unit)


def _turns(places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the number of each value among those of the same place, from 0, (n,)."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    turns = np.empty(len(places), np.intp)
    turns[order] = np.arange(len(places)) - np.searchsorted(ordered, ordered)
    return turns
