"""What changed between two runs: their settings and facts, beside the results that differ.

Records in, records out. What came first is called `before` and stands first in every pair, whatever
the numbers of the runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from railgauge.analysis import rank_test, summarise
from railgauge.cases import Case, Value
from railgauge.report.default import HEADLINES
from railgauge.report.machines import peaks_by_host
from railgauge.store.records import PlannedCase, Series, StoredRun

if TYPE_CHECKING:
    from railgauge.store import Store

# Two series differ when chance alone would part them so in fewer than one of a hundred cases.
LEVEL = 0.01
# Where a test has no headline metric, so many of its others.
_OTHERS = 4

Verdict = Literal["worse", "better", "different", "same", "too few", "missing"]
_ORDER: Sequence[Verdict] = ("worse", "better", "different", "missing", "too few", "same")
_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class Change:
    """A setting or fact with its values before and after; None where it wasn't there."""

    name: str
    values: tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class HostChanges:
    """A host that both runs have, and in what it is not what it was."""

    host: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One run's replications of a case: `n` values, in base units; None where there are none."""

    n: int
    median: float | None
    minimum: float | None
    maximum: float | None
    suspect: int
    failed: int


@dataclass(frozen=True, slots=True)
class Result:
    """A metric of a case that both runs have.

    `ratio` is the later median over the earlier one, None where either is missing or the earlier
    is 0. `p` is that of `analysis.rank_test`, None where a side has no value.
    """

    test: str
    case: Case
    metric: str
    unit: str
    verdict: Verdict
    p: float | None
    ratio: float | None
    sides: tuple[Side, Side]


@dataclass(frozen=True, slots=True)
class ParameterChange:
    """A parameter of a test of which one run has values that the other doesn't have."""

    test: str
    engine: str
    name: str
    only: tuple[tuple[Value, ...], tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class Difference:
    """All that differs between two runs. `results` has those that don't differ, too, last."""

    runs: tuple[StoredRun, StoredRun]
    settings: tuple[Change, ...]
    hosts: tuple[HostChanges, ...]
    hosts_only: tuple[tuple[str, ...], tuple[str, ...]]
    results: tuple[Result, ...]
    parameters: tuple[ParameterChange, ...]
    cases_only: tuple[tuple[PlannedCase, ...], tuple[PlannedCase, ...]]


def headline_series(store: Store, runs: Sequence[int]) -> list[Series]:
    """Return what is compared: each test's headline metrics or, where it has none, its first."""
    series = store.series(runs, HEADLINES)
    planned = {each.test for run in runs for each in store.run(run).cases}
    without = planned - {one.test for one in series if len(one.values)}
    found = [one for one in series if one.test not in without]
    if not without:
        return found
    rest = [one for one in store.series(runs) if one.test in without]
    chosen: dict[str, list[str]] = {}
    for test in without:
        there = dict.fromkeys(one.metric for one in rest if one.test == test)
        chosen[test] = [name for name in HEADLINES if name in there] or list(there)[:_OTHERS]
    return found + [one for one in rest if one.metric in chosen[one.test]]


def difference(runs: tuple[StoredRun, StoredRun], series: Iterable[Series]) -> Difference:
    """Compare two runs; `series` are of both, of the metrics to compare."""
    before, after = runs
    pairs, only = _matched(before.cases, after.cases)
    hosts = [name for name in before.facts if name in after.facts]
    told, tells = (_facts_and_peaks(run) for run in runs)
    found = [HostChanges(name, _changes(told[name], tells[name])) for name in sorted(hosts)]
    return Difference(
        runs=runs,
        settings=_changes(_settings(before), _settings(after)),
        hosts=tuple(host for host in found if host.changes),
        hosts_only=(
            tuple(sorted(before.facts.keys() - after.facts.keys())),
            tuple(sorted(after.facts.keys() - before.facts.keys())),
        ),
        results=tuple(_results(runs, pairs, series)),
        parameters=tuple(_parameters(runs)),
        cases_only=only,
    )


def _facts_and_peaks(run: StoredRun) -> dict[str, dict[str, str]]:
    peaks = peaks_by_host(run.peaks)
    return {host: {**facts, **peaks.get(host, {})} for host, facts in run.facts.items()}


def _settings(run: StoredRun) -> dict[str, str]:
    """Return what made the run, as texts; long ones stand for themselves by name."""
    new = run.new
    texts = {
        "plan": new.plan,
        "plan_text": new.plan_text,
        "git_commit": new.git_commit,
        "git_dirty": "uncommitted changes" if new.git_dirty else "clean" if new.git_commit else "",
        "engines_hash": new.engines_hash,
        "railgauge_version": new.railgauge_version,
        "controller": new.controller,
        "origin": new.origin,
        "state": run.state,
    }
    texts |= {f"file {name}": text for name, text in new.files.items()}
    return {name: text for name, text in texts.items() if text}


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    names = dict.fromkeys([*before, *after])
    return tuple(
        Change(name, (before.get(name), after.get(name)))
        for name in names
        if before.get(name) != after.get(name)
    )


_Pair = tuple[PlannedCase, PlannedCase]
_Two = tuple[tuple[PlannedCase, ...], tuple[PlannedCase, ...]]


def _matched(
    before: Sequence[PlannedCase], after: Sequence[PlannedCase]
) -> tuple[list[_Pair], _Two]:
    """Return the cases that both have, and those that only one has.

    A case whose test got another name is the same case if there is no doubt about it.
    """
    pairs, rest = _matched_by(before, after, lambda planned: (planned.test, planned.case.key))
    more, rest = _matched_by(*rest, lambda planned: planned.case.key)
    return pairs + more, rest


def _matched_by(
    before: Sequence[PlannedCase],
    after: Sequence[PlannedCase],
    key: Callable[[PlannedCase], _Key],
) -> tuple[list[_Pair], _Two]:
    first, second = _unique(before, key), _unique(after, key)
    pairs = [(one, second[name]) for name, one in first.items() if name in second]
    done = {id(one) for pair in pairs for one in pair}
    return pairs, (
        tuple(one for one in before if id(one) not in done),
        tuple(one for one in after if id(one) not in done),
    )


def _unique(
    cases: Sequence[PlannedCase], key: Callable[[PlannedCase], _Key]
) -> dict[_Key, PlannedCase]:
    found: dict[_Key, list[PlannedCase]] = {}
    for one in cases:
        found.setdefault(key(one), []).append(one)
    return {name: those[0] for name, those in found.items() if len(those) == 1}


def _results(
    runs: tuple[StoredRun, StoredRun], pairs: Sequence[_Pair], series: Iterable[Series]
) -> list[Result]:
    """Return the results of all pairs: the verdicts in their order, then the largest change."""
    known: dict[tuple[int, str, str], dict[str, Series]] = {}
    for one in series:
        known.setdefault((one.run, one.test, one.case.key), {})[one.metric] = one
    results = []
    for first, second in pairs:
        before, after = (
            known.get((run.id, planned.test, planned.case.key), {})
            for run, planned in zip(runs, (first, second), strict=True)
        )
        results += [
            _result(second, before.get(metric), after.get(metric))
            for metric in dict.fromkeys([*before, *after])
        ]
    return sorted(results, key=_by_weight)


def _result(planned: PlannedCase, before: Series | None, after: Series | None) -> Result:
    known = after or before
    assert known is not None  # that metric is of one of them
    sides = (_side(before), _side(after))
    verdict: Verdict = "missing"
    p = ratio = None
    old, new = sides[0].median, sides[1].median
    if before and after and old is not None and new is not None:
        ranks = rank_test(before.values.tolist(), after.values.tolist())
        p, ratio = ranks.p, new / old if old else None
        verdict = "same"
        if ranks.least >= LEVEL:
            verdict = "too few"
        elif ranks.p < LEVEL:
            verdict = _direction(after.better, new - old)
    return Result(planned.test, planned.case, known.metric, known.unit, verdict, p, ratio, sides)


def _side(series: Series | None) -> Side:
    if series is None or not len(series.values):
        return Side(0, None, None, None, 0, series.failed if series else 0)
    found = summarise(series.values)
    suspect = int(series.suspect.sum())
    return Side(found.n, found.median, found.minimum, found.maximum, suspect, series.failed)


def _direction(better: str, gain: float) -> Verdict:
    towards = {"higher": gain, "lower": -gain}.get(better, 0.0)
    return "better" if towards > 0 else "worse" if towards < 0 else "different"


def _by_weight(result: Result) -> tuple[int, float]:
    ratio = result.ratio
    change = math.inf if ratio is None or ratio <= 0 else abs(math.log(ratio))
    return _ORDER.index(result.verdict), -change


def _parameters(runs: tuple[StoredRun, StoredRun]) -> Iterator[ParameterChange]:
    """Yield what tests that both runs have set in one of them only."""
    values = [_values(run.cases) for run in runs]
    for key in values[0]:
        if key in values[1]:
            for name in dict.fromkeys(name for side in values for name in side[key]):
                before, after = (side[key].get(name, {}) for side in values)
                one = tuple(value for text, value in before.items() if text not in after)
                other = tuple(value for text, value in after.items() if text not in before)
                if one or other:
                    yield ParameterChange(*key, name, (one, other))


def _values(cases: Iterable[PlannedCase]) -> dict[tuple[str, str], dict[str, dict[str, Value]]]:
    """Return (test, engine) -> parameter -> its different values, by their texts: 1 is not true."""
    found: dict[tuple[str, str], dict[str, dict[str, Value]]] = {}
    # Cases of different places share their parameters, and there may be a million of them.
    sets = {(one.test, one.case.engine, id(one.case.parameters)): one for one in cases}
    for planned in sets.values():
        of_test = found.setdefault((planned.test, planned.case.engine), {})
        for name, value in planned.case.parameters.items():
            of_test.setdefault(name, {})[repr(value)] = value
    return found
