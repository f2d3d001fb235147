"""What changed between two runs: their settings and facts, beside the results that differ.

Records in, records out. What came first is called `before` and stands first in every pair, whatever
the numbers of the runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from railgauge.compare.compare import Comparison, compare
from railgauge.compare.earlier_runs import by_earlier_runs
from railgauge.compare.facts import FactChange, HostChanges, host_changes, setting_changes
from railgauge.compare.reading import read
from railgauge.compare.select import Selection
from railgauge.plan.cases import Case, Value, parameter_value
from railgauge.report.pages.machines import peaks_by_host
from railgauge.store import Store
from railgauge.store.records import PlannedCase, StoredRun


@dataclass(frozen=True, slots=True)
class ParameterChange:
    """A parameter of a test of which one run has values that the other doesn't have."""

    test: str
    engine: str
    name: str
    only: tuple[tuple[Value, ...], tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class Difference:
    """All that differs between two runs; `compared` has the results that don't differ, too."""

    runs: tuple[StoredRun, StoredRun]
    settings: tuple[FactChange, ...]
    hosts: tuple[HostChanges, ...]
    hosts_only: tuple[tuple[str, ...], tuple[str, ...]]
    compared: Comparison
    parameters: tuple[ParameterChange, ...]


def difference(store: Store, before: int, after: int) -> Difference:
    """Compare two runs of the store; InputError where it lacks one of them."""
    runs = store.run(before), store.run(after)
    first, second = (Selection(f"run {run.id}", (run.id,)) for run in runs)
    facts_before, facts_after = (_facts_and_peaks(run) for run in runs)
    return Difference(
        runs=runs,
        settings=setting_changes(*runs),
        hosts=host_changes(facts_before, facts_after),
        hosts_only=(
            tuple(sorted(facts_before.keys() - facts_after.keys())),
            tuple(sorted(facts_after.keys() - facts_before.keys())),
        ),
        compared=by_earlier_runs(store, compare(read(store, [before, after]), first, second)),
        parameters=tuple(_parameters(runs)),
    )


def _facts_and_peaks(run: StoredRun) -> dict[str, dict[str, str]]:
    peaks = peaks_by_host(run.peaks)
    return {host: {**facts, **peaks.get(host, {})} for host, facts in run.facts.items()}


def _parameters(runs: tuple[StoredRun, StoredRun]) -> Iterator[ParameterChange]:
    """Yield what tests that both runs have set in one of them only."""
    sides = [_distinct_cases(run.cases) for run in runs]
    for test, engine in sides[0]:
        if (test, engine) in sides[1]:
            cases = [side[test, engine] for side in sides]
            names = dict.fromkeys(
                name for side in cases for case in side for name in case.parameters
            )
            for name in names:
                before, after = (_values(side, name) for side in cases)
                only_before = tuple(value for text, value in before.items() if text not in after)
                only_after = tuple(value for text, value in after.items() if text not in before)
                if only_before or only_after:
                    yield ParameterChange(test, engine, name, (only_before, only_after))


def _distinct_cases(cases: Iterable[PlannedCase]) -> dict[tuple[str, str], list[Case]]:
    """Return (test, engine) -> its cases, one of those that share their parameters."""
    # Cases of different places share their parameters, and there may be a million of them.
    distinct = {(case.test, case.case.engine, id(case.case.parameters)): case for case in cases}
    by_test: dict[tuple[str, str], list[Case]] = {}
    for planned in distinct.values():
        by_test.setdefault((planned.test, planned.case.engine), []).append(planned.case)
    return by_test


def _values(cases: Iterable[Case], name: str) -> dict[str, Value]:
    """Return a parameter's different values by their texts: 1 is not true."""
    values = (parameter_value(case, name) for case in cases)
    return {repr(value): value for value in values if value is not None}
