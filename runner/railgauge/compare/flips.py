"""Cases that flip between two levels by themselves, as all their stored runs show it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from railgauge.base.arrays import np
from railgauge.base.number import best_unit, format_number, four_digits, scale
from railgauge.compare.compare import Comparison, Result, worst_first
from railgauge.stats.two_groups import LEAST_VALUES
from railgauge.stats.two_levels import TwoLevels, two_levels
from railgauge.store import Store

# The runs of a case take some ms to read; where more results changed it isn't each of them flips.
_MOST = 50
# So many of its plan's last runs show what a case does.
LEVEL_RUNS = 100


def with_levels(store: Store, comparison: Comparison) -> Comparison:
    """Return the comparison with the two levels of cases that flip between them by themselves.

    Such a case isn't reported as slower or faster while the second side is at one of its levels,
    as that says nothing of what was changed. The 100 runs stored before the second side's show the
    levels, and the worst 50 results that aren't the same are looked at.
    """
    first, second = (side.runs for side in comparison.selected)
    doubtful = [
        result
        for result in comparison.results
        if result.judged.change != "same" and all(side.n for side in result.sides)
    ]
    if not (doubtful and first and second):
        return comparison
    heads = store.run_heads()
    place = next(place for place, head in enumerate(heads) if head.id in second)
    plan = heads[place].plan
    earlier = [head.id for head in heads[:place] if head.plan == plan and not head.partial]
    earlier = earlier[-LEVEL_RUNS:]
    if len(earlier) < LEAST_VALUES:
        return comparison
    named = {}
    for result in doubtful[:_MOST]:
        tests = comparison.renames.same((result.test, result.case.key))
        levels = _levels(store, result, earlier, tests)
        if levels is not None:
            named[result.name] = _named(result, levels)
    results = (named.get(result.name, result) for result in comparison.results)
    return replace(comparison, results=tuple(sorted(results, key=worst_first)))


def _levels(
    store: Store, result: Result, runs: Collection[int], tests: Collection[str]
) -> TwoLevels | None:
    all_values = [
        series.values
        for series in store.history(result.case.key, result.metric, tests=tests, runs=runs)
        if len(series.values) and (series.unit, series.better) == (result.unit, result.better)
    ]
    return two_levels([float(np.median(values)) for values in all_values])


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
