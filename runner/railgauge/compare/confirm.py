"""Measuring once more what looks slower: which cases, and what is left of it.

What chance, or a minute's disturbance, made of one run is seldom there in the next one. So the
first look may be sharp, without a correction for how many cases there are, where only what is
slower again counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from railgauge.compare.compare import Comparison, Result, compare, worst_first
from railgauge.compare.reading import ReadRuns
from railgauge.compare.renames import CaseName
from railgauge.compare.select import Selection
from railgauge.stats.judgement import Change

# The p, before correcting it for the number of cases, from which on a case is measured once more.
LEVEL = 0.05


def suspects(comparison: Comparison) -> list[Result]:
    """Return what looks slower, worst first: by its own p alone, and beyond what matters."""
    return [result for result in comparison.results if _looks_slower(result)]


def cases_of(results: Sequence[Result]) -> frozenset[CaseName]:
    """Return the cases, by test and key, of these results."""
    return frozenset((result.test, result.case.key) for result in results)


def compare_suspects(reading: ReadRuns, first: Selection, tonight: int, run: int) -> Comparison:
    """Compare the run that measured suspects again with the first side.

    All other cases stand in it as they were `tonight`: what three runs of a case don't say of how
    they differ, those of the others do. How cases scatter counts for nothing here, as suspects,
    chosen because they are slower, scatter by what they are.
    """
    cases = [
        {(case.test, case.case.key): case for case in reading.cases[of]} for of in (tonight, run)
    ]
    whole = replace(
        reading,
        cases={**reading.cases, run: tuple((cases[0] | cases[1]).values())},
        series={**reading.series, run: {**reading.series[tonight], **reading.series[run]}},
    )
    return compare(whole, first, Selection(f"run {run}", (run,)), between_runs=0.0)


def confirmed(
    first: Comparison, again: Comparison, together: Comparison
) -> tuple[Comparison, tuple[Result, ...]]:
    """Return what the first comparison comes to after what looked slower was measured once more.

    `again` compares the new run with the same baseline, `together` both runs. What looked slower is
    slower only if it is so by all values together, corrected for all cases, and looks so by the new
    ones alone. The former keeps the promise about false alarms though both looks share a baseline;
    the latter keeps out what passed by itself.
    Returned beside: what looked slower and isn't, which is the same only if all values together
    say so. What could not be measured again is judged by the first run alone.
    """
    suspect_names = {result.name for result in suspects(first)}
    again_by_name = {result.name: result for result in again.results if result.sides[1].n}
    joint_results = {result.name: result for result in together.results}
    results, unconfirmed = [], []
    # What only the new run has, a metric that isn't always there, was not asked about.
    for old in first.results:
        if old.name not in suspect_names:
            # Measured beside another metric of its case, it was not asked about again.
            results.append(old)
            continue
        joint = joint_results[old.name]
        if old.name not in again_by_name:
            reason = f"{old.judged.reason}; it could not be measured again".removeprefix("; ")
            results.append(replace(joint, judged=old.judged._replace(reason=reason)))
        elif joint.judged.change == "slower" and _looks_slower(again_by_name[joint.name]):
            results.append(joint)
        else:
            doubtful = _not_slower(joint, again_by_name[joint.name])
            results.append(doubtful)
            unconfirmed.append(doubtful)
    return replace(together, results=tuple(sorted(results, key=worst_first))), tuple(unconfirmed)


def _looks_slower(result: Result) -> bool:
    judged = result.judged
    if judged.change == "slower":
        return True
    before, after = (side.median for side in result.sides)
    if before is None or after is None or not judged.p <= LEVEL:
        return False
    if not judged.ratio > 0 and before <= 0:
        # Where most values were 0 there is no share, and any change matters.
        return judged.effect < 0.5
    # Values that aren't all above 0 have a difference in their unit in place of a ratio.
    share = judged.ratio - 1 if judged.ratio > 0 else (after - before) / before
    return (-share if result.better == "higher" else share) >= result.smallest


def _not_slower(joint: Result, anew: Result) -> Result:
    """Return the result of both runs as it is reported when the case was not slower again.

    It is the same only if all its values say so: the second run alone may have missed a change.
    """
    judged = joint.judged
    change: Change = "same" if judged.change == "same" else "not enough data"
    twice = _looks_slower(anew)
    if twice:
        reason = "it looked slower twice, but not by more than chance gives among all cases"
    else:
        reason = "it looked slower, but not so when measured once more"
    if change == "same":
        reason += f"; of both runs together, {judged.reason}"
    elif not twice:
        reason += f"; of that run alone, {anew.judged.reason}"
    return replace(joint, judged=judged._replace(change=change, reason=reason, few_runs=False))
