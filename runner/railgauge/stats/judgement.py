"""Faster, same, slower, or not enough data: the rules, and the reason in words."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, NamedTuple

from railgauge.stats import special
from railgauge.stats.digits import percent_text, percentage
from railgauge.stats.rank_test import least_p

Change = Literal["faster", "same", "slower", "not enough data"]

# Half an interval may be so much of what matters for 4 of 5 series that didn't change to be judged
# the same: 1.96 standard errors and the 1.28 by which an estimate may be off.
_ROOM = 1.96 / (1.96 + 1.28)
_MOST_REPLICATIONS = 1000


class Judged(NamedTuple):
    """A pair of series: what the verdict on it rests on.

    `share` is the change as a share of the first, within `low` and `high`; in the values' unit if
    not `relative`. `error` is its standard error by the replications alone. `q` is corrected for
    everything, `q_within` not for what runs differ by; NaN where there are too few values. So many
    times (`factor`) fewer values count than there are, as they depend on each other. `tests`
    is how many pairs are judged. `smallest` is the share that matters, `step` the one that values
    come in. As shifts, of logarithms if `log`: `between` is half the interval that runs differ by
    (`by_runs`: shown by the first side's, `assumed`: by nothing), `centre` what all have in common.
    `greater` is how often a value of the second is greater, `mean` by which share the mean moved.
    `higher`: higher is better.
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
    log: bool
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
        return (
            abs(self.share) <= self.as_share(self.between) or self.q_within <= self.level < self.q
        )

    @property
    def most_between(self) -> float:
        """The most that any of all pairs may differ by between runs, with 95 % confidence.

        As a share of the lesser: so it is one for falls and rises.
        """
        for_one, for_all = (
            float(special.ndtri(1 - self.level / n / 2)) for n in (1, max(self.tests, 1))
        )
        most = self.between * for_all / for_one
        return math.expm1(most) if self.log else most

    def as_share(self, shift: float) -> float:
        """Return a shift the way of the change as a share: a fall by less than a rise."""
        return abs(math.expm1(math.copysign(shift, self.share))) if self.log else shift


def judge(pair: Judged) -> tuple[Change, str]:
    """Return the verdict and the reason for it."""
    if not all(pair.n):
        sides = [name for name, n in zip(("first", "second"), pair.n, strict=True) if not n]
        return "not enough data", f"no values on the {' and the '.join(sides)} side"
    if math.isnan(pair.q):
        needed = replications_needed(1, pair.level)
        return "not enough data", f"{_count(pair)} can't show any change: take {needed} of each"
    limit = pair.smallest if pair.relative else 0.0
    # A hair more than a step is a step that was rounded. Nothing isn't.
    is_step = pair.relative and abs(pair.share) <= pair.step * (1 + 1e-6)
    # Steps make an interval wider and, of skewed values, so may what runs differ by; p doesn't see.
    may_be_none = pair.relative and pair.low <= 0 <= pair.high
    if pair.q <= pair.level and pair.beyond and not is_step and not may_be_none:
        return "faster" if pair.rose == pair.higher else "slower", _changed(pair)
    differs = pair.q_within <= pair.level
    if -limit <= pair.low and pair.high <= limit and not (differs and _in_part(pair)):
        return "same", f"any change is smaller than {_percent(limit)}" if limit else "no change"
    return "not enough data", _missing(pair)


def _in_part(pair: Judged) -> bool:
    """Return whether what differs may matter though the middle of all hardly moved."""
    return abs(pair.mean) >= pair.smallest or not pair.relative


def _changed(pair: Judged) -> str:
    if not pair.relative:
        return f"{_more(pair)} than before, when most values were 0"
    return changed_text(pair.share, pair.low, pair.high)


def changed_text(share: float, low: float, high: float) -> str:
    """Return in words by which `share` something changed, within which interval."""
    nearer, farther = sorted((low, high), key=abs)
    return (
        f"{percent_text(share)}, probably between {percentage(nearer)} and {percent_text(farther)}"
    )


def _missing(pair: Judged) -> str:
    beyond = pair.beyond
    if beyond and pair.q <= pair.level and pair.step:
        return (
            f"values come in steps of {_percent(pair.step)}: "
            "a change by one step may be one of rounding"
        )
    if pair.few_runs:
        return (
            "not enough baseline runs: with fewer than three, runs are taken to differ by up to "
            f"{_percent(pair.most_between)}"
        )
    if beyond and pair.q_within <= pair.level and (pair.by_runs or pair.centre or pair.between):
        return _as_runs_differ(pair)
    if -pair.smallest <= pair.low and pair.high <= pair.smallest and pair.relative:
        return (
            f"only some replications moved: the mean by {percent_text(pair.mean)}, not the middle"
        )
    if pair.factor > 1.5:
        return _dependent(pair, beyond)
    if beyond and least_p(*pair.n) > pair.level / pair.tests:
        needed = replications_needed(pair.tests, pair.level)
        return (
            f"{_count(pair)} can't show a change of one among {pair.tests:,} results: "
            f"take {needed} of each"
        )
    return _too_wide(pair, beyond)


def _as_runs_differ(pair: Judged) -> str:
    if not pair.relative:
        return f"{_more(pair)} than before, but runs of the first side differ among themselves, too"
    between = pair.as_share(pair.between)
    # What a case alone differs by in 1 of 20 runs, some of many exceed in each.
    is_one_of_many = pair.tests > 1 and abs(pair.share) > between
    more = f", one of {pair.tests:,} results by more" if is_one_of_many else ""
    if pair.by_runs:
        return (
            f"{percent_text(pair.share)}, but runs of the first side differ among themselves so "
            f"that another may differ by {_percent(between)} anyway{more}"
        )
    text = f"{percent_text(pair.share)}, but "
    if pair.centre:
        centre = math.expm1(pair.centre) if pair.log else pair.centre
        text += f"most cases moved by {percent_text(centre)}"
        text += " and " if pair.between else ""
    if pair.between:
        more = "" if pair.centre else more
        by = f"differ by up to {_percent(between)}"
        text += (
            f"runs are taken to {by}" if pair.assumed else f"many cases {by} between these two runs"
        )
        text += more
    return f"{text}: a baseline of three runs or more would decide"


def _dependent(pair: Judged, beyond: bool) -> str:
    few, many = (max(round(n / pair.factor), 1) for n in sorted(pair.n))
    count = f"{few} each" if few == many else f"{few} and {many}"
    text = f"each replication depends on the one before, they count as {count}"
    if beyond:
        text += "; a baseline of three runs or more would decide"
    return f"{_too_wide(pair, beyond)}; {text}"


def _too_wide(pair: Judged, beyond: bool) -> str:
    if not pair.relative:
        return "the values vary too much for a change to show"
    if not math.isfinite(pair.error):
        return f"{_count(pair)} give no interval: take {replications_needed(1, 0.05)} of each"
    text = f"the change may be anything from {percentage(pair.low)} to {percent_text(pair.high)}"
    between = 0.0 if pair.assumed else pair.as_share(pair.between)
    if max(between, pair.step) >= pair.smallest / 2 > 0:
        if pair.step > between:
            return f"{text}: values come in steps of {_percent(pair.step)}"
        return f"{text}: runs differ by up to {_percent(between)} anyway"
    needed = _needed(pair, beyond)
    if needed > _MOST_REPLICATIONS:
        return f"{text}: too much to be narrowed by more replications"
    return f"{text}: about {needed} replications of each would decide"


def _needed(pair: Judged, beyond: bool) -> int:
    """Return about how many replications of each side would decide it."""
    now = 2 / (1 / pair.n[0] + 1 / pair.n[1])
    if beyond:
        # For this very change to be found, though it be one among all.
        times = float(special.ndtri(1 - pair.level / pair.tests / 2)) * pair.error / abs(pair.share)
        least = math.ceil(replications_needed(pair.tests, pair.level) * pair.factor)
    else:
        # The interval has to fit in. Where anything matters nothing is ever the same.
        room = min(_ROOM * pair.smallest, pair.smallest - abs(pair.share))
        times = 1.96 * pair.error / room if room else math.inf
        least = 1
    return max(math.ceil(min(now * times**2, 1e9)), least, max(pair.n) + 1)


@lru_cache(maxsize=256)
def replications_needed(tests: int, level: float) -> int:
    """Return how many values of each side show a change of a single one among `tests` cases."""
    n = 1
    while least_p(n, n) > level / tests:
        n += 1
    return n


def _count(pair: Judged) -> str:
    return f"{pair.n[0]} and {pair.n[1]} replications"


def _more(pair: Judged) -> str:
    return "more" if pair.rose else "less"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"
