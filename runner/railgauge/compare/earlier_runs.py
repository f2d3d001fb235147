"""What a plan's earlier runs say of what changed: that a case does so by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from railgauge.base.arrays import np
from railgauge.base.number import best_unit, format_number, four_digits, scale
from railgauge.compare.compare import Comparison, Result, worst_first
from railgauge.compare.reading import kind
from railgauge.stats.baseline_runs import LEAST_RUNS
from railgauge.stats.between_runs import most_apart
from railgauge.stats.judgement import changed_text
from railgauge.stats.two_groups import LEAST_VALUES
from railgauge.stats.two_levels import TwoLevels, two_levels
from railgauge.store import Store

# The runs of a case take some ms to read; where more results changed it isn't each of them.
_MOST = 50
# Fewer say too little of how runs differ.
_LEAST_EARLIER = 10
# So many of its plan's last runs show what a case does.
EARLIER_RUNS = 100


def by_earlier_runs(store: Store, comparison: Comparison) -> Comparison:
    """Return the comparison as far as the 100 runs stored before the second side's bear it out.

    A case that flips between two levels by itself isn't reported as slower or faster while the
    second side is at one of its levels, as that says nothing of what was changed; nor is one, of
    fewer than three runs on the first side, that changed by no more than these runs differ by. The
    worst 50 results that aren't the same are looked at.
    """
    first, second = (side.runs for side in comparison.selected)
    if not (first and second):
        return comparison
    heads = store.run_heads()
    place = next(place for place, head in enumerate(heads) if head.id in second)
    plan = heads[place].plan
    earlier = [head.id for head in heads[:place] if head.plan == plan and not head.partial]
    earlier = earlier[-EARLIER_RUNS:]
    if len(earlier) < LEAST_VALUES:
        return comparison
    keys: dict[str, dict[str, None]] = {}
    for result in _doubtful(comparison):
        keys.setdefault(result.metric, {})[result.case.key] = None
    histories = {
        metric: store.histories(of_metric, metric, runs=earlier)
        for metric, of_metric in keys.items()
    }

    def medians(result: Result) -> list[float]:
        tests = comparison.renames.same((result.test, result.case.key))
        return [
            float(np.median(series.values))
            for series in histories[result.metric][result.case.key]
            if series.test in tests and len(series.values) and kind(series) == kind(result)
        ]

    return by_medians(comparison, medians)


def by_medians(comparison: Comparison, medians: Callable[[Result], Sequence[float]]) -> Comparison:
    """Return the comparison by the `medians` of each case's earlier runs, in order.

    Of levels fewer than six say nothing, of how runs differ fewer than ten.
    """
    tests = sum(not math.isnan(result.judged.q) for result in comparison.results)
    again = {}
    for result in _doubtful(comparison):
        earlier = medians(result)
        levels = two_levels(earlier)
        if levels is not None:
            again[result.name] = _named(result, levels)
        elif len(earlier) >= _LEAST_EARLIER and min(earlier) > 0:
            again[result.name] = _within(result, earlier, tests)
    results = (again.get(result.name, result) for result in comparison.results)
    return replace(comparison, results=tuple(sorted(results, key=worst_first)))


def _doubtful(comparison: Comparison) -> list[Result]:
    """Return the worst results that aren't the same and have values on both sides."""
    doubtful = [
        result
        for result in comparison.results
        if result.judged.change != "same" and all(side.n for side in result.sides)
    ]
    return doubtful[:_MOST]


def _within(result: Result, earlier: Sequence[float], tests: int) -> Result:
    """Return the result by how earlier runs differ, if the first side's are too few to show that.

    Its interval has room for it, and it isn't judged if it changed by no more.
    """
    judged, runs = result.judged, len(result.sides[0].runs)
    changed = judged.change != "not enough data"
    if runs >= LEAST_RUNS or not judged.ratio > 0 or not (changed or judged.few_runs):
        return result
    with np.errstate(divide="ignore"):
        shift, low, high = np.log([judged.ratio, judged.low, judged.high]).tolist()
    apart, most = (most_apart(earlier, runs, number) for number in (1, tests))
    if not changed and 2 * apart <= high - low:
        return result
    below, above = math.hypot(shift - low, apart), math.hypot(high - shift, apart)
    judged = judged._replace(low=math.exp(shift - below), high=math.exp(shift + above))
    most = max(most, below if shift > 0 else above)
    if changed and abs(shift) > most:
        reason = changed_text(judged.ratio - 1, judged.low - 1, judged.high - 1)
        return replace(result, judged=judged._replace(reason=reason))
    reason = (
        f"not enough baseline runs: {len(earlier)} earlier runs differ so much that one or two may"
        f" be off by up to {100 * math.expm1(most):.2g} %"
    )
    judged = judged._replace(change="not enough data", reason=reason, few_runs=True)
    return replace(result, judged=judged)


def _named(result: Result, levels: TwoLevels) -> Result:
    """Return the result with its levels: not judged if the second side's runs are each at one.

    What was measured once more may be at the other one, so that the median of both is at neither.
    """
    judged = result.judged
    places = [
        _place(float(np.median(values)), levels, result.smallest) for values in result.sides[1].runs
    ]
    if all(places):
        reason = f"two levels, now at the {' and the '.join(dict.fromkeys(places))} one"
        if judged.change == "not enough data":
            reason = f"{reason}; {judged.reason}"
        judged = judged._replace(change="not enough data", reason=reason, few_runs=False)
    else:
        judged = judged._replace(reason=f"{judged.reason}; two levels, now at neither")
    return replace(result, levels=levels, judged=judged)


def _place(median: float, levels: TwoLevels, share: float) -> str:
    """Return at which of the levels a run's median is, or off it by no more than `share`."""
    named = (("lower", levels.low), ("higher", levels.high))
    return next((word for word, level in named if level.holds(median, share)), "")


def levels_text(levels: TwoLevels, unit: str) -> str:
    """Return both levels in words: `12 of 18 earlier runs are near 9.1 Gbit/s and 6 …`."""
    medians = [levels.low.median, levels.high.median]
    display_unit = best_unit(unit, medians)
    per_unit = scale(display_unit, unit)
    assert per_unit is not None  # the unit was chosen for that base
    low, high = (
        format_number(value, per_unit, four_digits(value / float(per_unit))) for value in medians
    )
    name = f" {display_unit}" if display_unit else ""
    total = levels.low.runs + levels.high.runs
    return (
        f"{levels.low.runs} of {total} earlier runs are near {low}{name} and {levels.high.runs} "
        f"near {high}{name}, and it went from one to the other {levels.switches} times by itself"
    )
