"""Faster, same, slower, or not enough data: the rules, and the reason in words."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, NamedTuple

from railgauge.stats.digits import percent_text, percentage
from railgauge.stats.rank_test import least_p
from railgauge.stats.special import ndtri

Change = Literal["faster", "same", "slower", "not enough data"]

# Half an interval may be so much of what matters for 4 of 5 series that didn't change to be judged
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
        for_one, for_all = (float(ndtri(1 - self.level / n / 2)) for n in (1, max(self.tests, 1)))
        return self.between * for_all / for_one


def judge(judged: Judged) -> tuple[Change, str]:
    """Return the verdict and the reason for it."""
    if not all(judged.n):
        sides = [name for name, n in zip(("first", "second"), judged.n, strict=True) if not n]
        return "not enough data", f"no values on the {' and the '.join(sides)} side"
    if math.isnan(judged.q):
        needed = replications_needed(1, judged.level)
        return "not enough data", f"{_count(judged)} can't show any change: take {needed} of each"
    limit = judged.smallest if judged.relative else 0.0
    # A hair more than a step is a step that was rounded. Nothing isn't.
    is_step = judged.relative and abs(judged.share) <= judged.step * (1 + 1e-6)
    # Steps make an interval wider and, of skewed values, so may what runs differ by; p doesn't see.
    may_be_none = judged.relative and judged.low <= 0 <= judged.high
    if judged.q <= judged.level and judged.beyond and not is_step and not may_be_none:
        return "faster" if judged.rose == judged.higher else "slower", _changed(judged)
    differs = judged.q_within <= judged.level
    if -limit <= judged.low and judged.high <= limit and not (differs and _in_part(judged)):
        return "same", f"any change is smaller than {_percent(limit)}" if limit else "no change"
    return "not enough data", _missing(judged)


def _in_part(judged: Judged) -> bool:
    """Return whether what differs may matter though the middle of all hardly moved."""
    return abs(judged.mean) >= judged.smallest or not judged.relative


def _changed(judged: Judged) -> str:
    if not judged.relative:
        return f"{_more(judged)} than before, when most values were 0"
    low, high = sorted((judged.low, judged.high), key=abs)
    return (
        f"{percent_text(judged.share)}, probably between {percentage(low)} and {percent_text(high)}"
    )


def _missing(judged: Judged) -> str:
    beyond = judged.beyond
    if beyond and judged.q <= judged.level and judged.step:
        return (
            f"values come in steps of {_percent(judged.step)}: "
            "a change by one step may be one of rounding"
        )
    if judged.few_runs:
        return (
            "not enough baseline runs: with fewer than three, runs are taken to differ by up to "
            f"{_percent(judged.most_between)}"
        )
    if (
        beyond
        and judged.q_within <= judged.level
        and (judged.by_runs or judged.centre or judged.between)
    ):
        return _as_runs_differ(judged)
    if -judged.smallest <= judged.low and judged.high <= judged.smallest and judged.relative:
        return (
            f"only some replications moved: the mean by {percent_text(judged.mean)}, not the middle"
        )
    if judged.factor > 1.5:
        return _dependent(judged, beyond)
    if beyond and least_p(*judged.n) > judged.level / judged.tests:
        needed = replications_needed(judged.tests, judged.level)
        return (
            f"{_count(judged)} can't show a change of one among {judged.tests:,} cases: "
            f"take {needed} of each"
        )
    return _too_wide(judged, beyond)


def _as_runs_differ(judged: Judged) -> str:
    if not judged.relative:
        return (
            f"{_more(judged)} than before, but runs of the first side differ among themselves, too"
        )
    if judged.by_runs:
        return (
            f"{percent_text(judged.share)}, but runs of the first side differ among themselves so "
            f"that another may differ by {_percent(judged.between)} anyway"
        )
    text = f"{percent_text(judged.share)}, but "
    if judged.centre:
        text += f"most cases moved by {percent_text(judged.centre)}"
        text += " and " if judged.between else ""
    if judged.between:
        text += f"many cases differ by up to {_percent(judged.between)} between these two runs"
    return f"{text}: a baseline of three runs or more would tell"


def _dependent(judged: Judged, beyond: bool) -> str:
    few, many = (max(round(n / judged.factor), 1) for n in sorted(judged.n))
    count = f"{few} each" if few == many else f"{few} and {many}"
    text = f"each replication depends on the one before, they count as {count}"
    if beyond:
        text += "; a baseline of three runs or more would tell"
    return f"{_too_wide(judged, beyond)}; {text}"


def _too_wide(judged: Judged, beyond: bool) -> str:
    if not judged.relative:
        return "the values vary too much for a change to show"
    if not math.isfinite(judged.error):
        return f"{_count(judged)} give no interval: take {replications_needed(1, 0.05)} of each"
    text = (
        f"the change may be anything from {percentage(judged.low)} to {percent_text(judged.high)}"
    )
    between = 0.0 if judged.assumed else judged.between
    if max(between, judged.step) >= judged.smallest / 2 > 0:
        if judged.step > between:
            return f"{text}: values come in steps of {_percent(judged.step)}"
        return f"{text}: runs differ by up to {_percent(between)} anyway"
    needed = _needed(judged, beyond)
    if needed > _MOST_REPLICATIONS:
        return f"{text}: too much to be narrowed by more replications"
    return f"{text}: about {needed} replications of each would tell"


def _needed(judged: Judged, beyond: bool) -> int:
    """Return about how many replications of each side would decide it."""
    now = 2 / (1 / judged.n[0] + 1 / judged.n[1])
    if beyond:
        # For this very change to be found, though it be one among all.
        times = float(ndtri(1 - judged.level / judged.tests / 2)) * judged.error / abs(judged.share)
        least = math.ceil(replications_needed(judged.tests, judged.level) * judged.factor)
    else:
        # The interval has to fit in. Where anything matters nothing is ever the same.
        room = min(_ROOM * judged.smallest, judged.smallest - abs(judged.share))
        times = 1.96 * judged.error / room if room else math.inf
        least = 1
    return max(math.ceil(min(now * times**2, 1e9)), least, max(judged.n) + 1)


@lru_cache(maxsize=256)
def replications_needed(tests: int, level: float) -> int:
    """Return how many values of each side show a change of a single one among `tests` cases."""
    n = 1
    while least_p(n, n) > level / tests:
        n += 1
    return n


def _count(judged: Judged) -> str:
    return f"{judged.n[0]} and {judged.n[1]} replications"


def _more(judged: Judged) -> str:
    return "more" if judged.rose else "less"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"
