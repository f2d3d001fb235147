"""Faster, same, slower, or not enough data: the rules, and the reason in words."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, NamedTuple

from railgauge.stats.digits import percent_text, percentage
from railgauge.stats.rank_test import least_p
from railgauge.stats.special import ndtri

Change = Literal["faster", "same", "slower", "not enough data"]

# Half an interval may be so much of what matters for 4 of 5 series that didn't change to be told
# the same: 1.96 standard errors and the 1.28 by which an estimate may be off.
_ROOM = 1.96 / (1.96 + 1.28)
_MOST_REPLICATIONS = 1000


class Judged(NamedTuple):
    """What the verdict on a pair rests on.

    `share` is the change as a share of the first, within `low` and `high`; in the values' unit if
    not `relative`. `error` is its standard error by the replications alone. `q` is corrected for
    everything, `q_within` not for what runs differ by; NaN where there are too few values. So many
    times (`factor`) fewer values count than there are, as they depend on each other. `tests`
    is how many pairs are judged. `smallest` is the share that matters, `step` the one that values
    come in, `between` half the interval that runs differ by (`by_runs`: told by the first side's,
    `assumed`: by nothing) and `centre` what all have in common. `greater` is how often a value of
    the second is greater, `mean` by which share the mean moved. `higher`: higher is better.
    """

    n: tuple[int, int]
    share: float
    low: float
    high: float
    error: float
    q: float
    q_within: float
    factor: float
    tests: int
    smallest: float
    level: float
    higher: bool
    relative: bool
    step: float
    between: float
    by_runs: bool
    assumed: bool
    centre: float
    greater: float
    mean: float

    @property
    def rose(self) -> bool:
        """Whether the second is more. Where most values are 0 before and after, their ranks say."""
        return self.share > 0 if self.relative else self.greater > 0.5

    @property
    def beyond(self) -> bool:
        """Whether the change matters: each does that is one from nothing."""
        if self.relative:
            return abs(self.share) >= self.smallest and self.share != 0
        return self.greater != 0.5

    @property
    def few_runs(self) -> bool:
        """Whether the change is within what runs may differ by, which nothing shows."""
        if not self.assumed or math.isnan(self.q):
            return False
        return abs(self.share) <= self.between or self.q_within <= self.level < self.q

    @property
    def most_between(self) -> float:
        """The most that any of all pairs may differ by between runs, with 95 % confidence."""
        one, every = (float(ndtri(1 - self.level / n / 2)) for n in (1, max(self.tests, 1)))
        return self.between * every / one


def judge(one: Judged) -> tuple[Change, str]:
    """Return the verdict and why."""
    if not all(one.n):
        sides = [name for name, n in zip(("first", "second"), one.n, strict=True) if not n]
        return "not enough data", f"no values on the {' and the '.join(sides)} side"
    if math.isnan(one.q):
        return "not enough data", (
            f"{_count(one)} can't show any change: take {replications_needed(1, one.level)} of each"
        )
    limit = one.smallest if one.relative else 0.0
    # A hair more than a step is a step that was rounded. Nothing isn't.
    is_step = one.relative and abs(one.share) <= one.step * (1 + 1e-6)
    # Steps make an interval wider and, of skewed values, so may what runs differ by; p doesn't see.
    may_be_none = one.relative and one.low <= 0 <= one.high
    if one.q <= one.level and one.beyond and not is_step and not may_be_none:
        return "faster" if one.rose == one.higher else "slower", _changed(one)
    differs = one.q_within <= one.level
    if -limit <= one.low and one.high <= limit and not (differs and _in_part(one)):
        return "same", f"any change is smaller than {_percent(limit)}" if limit else "no change"
    return "not enough data", _missing(one)


def _in_part(one: Judged) -> bool:
    """Return whether what differs may matter though the middle of all hardly moved."""
    return abs(one.mean) >= one.smallest or not one.relative


def _changed(one: Judged) -> str:
    if not one.relative:
        return f"{_more(one)} than before, when most values were 0"
    low, high = sorted((one.low, one.high), key=abs)
    return f"{percent_text(one.share)}, probably between {percentage(low)} and {percent_text(high)}"


def _missing(one: Judged) -> str:
    beyond = one.beyond
    if beyond and one.q <= one.level and one.step:
        return (
            f"values come in steps of {_percent(one.step)}: "
            "a change by one step may be one of rounding"
        )
    if one.few_runs:
        return (
            "not enough baseline runs: with fewer than three, runs are taken to differ by up to "
            f"{_percent(one.most_between)}"
        )
    if beyond and one.q_within <= one.level and (one.by_runs or one.centre or one.between):
        return _as_runs_differ(one)
    if -one.smallest <= one.low and one.high <= one.smallest and one.relative:
        return f"only some replications moved: the mean by {percent_text(one.mean)}, not the middle"
    if one.factor > 1.5:
        return _dependent(one, beyond)
    if beyond and least_p(*one.n) > one.level / one.tests:
        needed = replications_needed(one.tests, one.level)
        return (
            f"{_count(one)} can't show a change of one among {one.tests:,} cases: "
            f"take {needed} of each"
        )
    return _too_wide(one, beyond)


def _as_runs_differ(one: Judged) -> str:
    if not one.relative:
        return f"{_more(one)} than before, but runs of the first side differ among themselves, too"
    if one.by_runs:
        return (
            f"{percent_text(one.share)}, but runs of the first side differ among themselves so "
            f"that another may differ by {_percent(one.between)} anyway"
        )
    told = f"{percent_text(one.share)}, but "
    if one.centre:
        told += f"most cases moved by {percent_text(one.centre)}"
        told += " and " if one.between else ""
    if one.between:
        told += f"many cases differ by up to {_percent(one.between)} between these two runs"
    return f"{told}: a baseline of three runs or more would tell"


def _dependent(one: Judged, beyond: bool) -> str:
    few, many = (max(round(n / one.factor), 1) for n in sorted(one.n))
    count = f"{few} each" if few == many else f"{few} and {many}"
    told = f"each replication depends on the one before, they count as {count}"
    if beyond:
        told += "; a baseline of three runs or more would tell"
    return f"{_too_wide(one, beyond)}; {told}"


def _too_wide(one: Judged, beyond: bool) -> str:
    if not one.relative:
        return "the values vary too much for a change to show"
    if not math.isfinite(one.error):
        return f"{_count(one)} give no interval: take {replications_needed(1, 0.05)} of each"
    told = f"the change may be anything from {percentage(one.low)} to {percent_text(one.high)}"
    between = 0.0 if one.assumed else one.between
    if max(between, one.step) >= one.smallest / 2 > 0:
        if one.step > between:
            return f"{told}: values come in steps of {_percent(one.step)}"
        return f"{told}: runs differ by up to {_percent(between)} anyway"
    needed = _needed(one, beyond)
    if needed > _MOST_REPLICATIONS:
        return f"{told}: too much to be narrowed by more replications"
    return f"{told}: about {needed} replications of each would tell"


def _needed(one: Judged, beyond: bool) -> int:
    """Return about how many replications of each side would decide it."""
    now = 2 / (1 / one.n[0] + 1 / one.n[1])
    if beyond:
        # For this very change to be found, though it be one among all.
        times = float(ndtri(1 - one.level / one.tests / 2)) * one.error / abs(one.share)
        least = math.ceil(replications_needed(one.tests, one.level) * one.factor)
    else:
        # The interval has to fit in. Where anything matters nothing is ever the same.
        room = min(_ROOM * one.smallest, one.smallest - abs(one.share))
        times = 1.96 * one.error / room if room else math.inf
        least = 1
    return max(math.ceil(min(now * times**2, 1e9)), least, max(one.n) + 1)


@lru_cache(maxsize=256)
def replications_needed(tests: int, level: float) -> int:
    """Return how many values of each side show a change of a single one among `tests` cases."""
    n = 1
    while least_p(n, n) > level / tests:
        n += 1
    return n


def _count(one: Judged) -> str:
    return f"{one.n[0]} and {one.n[1]} replications"


def _more(one: Judged) -> str:
    return "more" if one.rose else "less"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"
