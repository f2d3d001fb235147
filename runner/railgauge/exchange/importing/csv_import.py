"""Puts results that others measured, in a CSV file, into the database as an imported run.

A row is one replication of one case, or the mean of several that a paper has printed. The mapping
says what the columns mean; what the file and the mapping don't say stays unknown: parameters are
not filled with an engine's defaults, nor are a link's two hosts guessed from its name (`client` is
then the link's name, `server` None).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from railgauge.base.errors import InputError
from railgauge.base.suggestion import suggest_or_list
from railgauge.exchange.importing.csv_file import CsvFile
from railgauge.exchange.importing.csv_mapping import CsvMapping
from railgauge.exchange.importing.csv_rows import MeasuredRow, RowReader
from railgauge.exchange.importing.imported_hosts import NO_HOSTS, ImportedHosts
from railgauge.exchange.importing.measured_order import in_measured_order
from railgauge.exchange.importing.result import ImportResult
from railgauge.plan.catalogue import Catalogue, EngineInfo
from railgauge.plan.catalogue.result_metrics import result_metrics
from railgauge.store.records import (
    MetricInfo,
    NewRun,
    Outcome,
    PlannedCase,
    imported_at,
    imported_run,
)
from railgauge.store.store import Store


@dataclass(frozen=True, slots=True)
class CsvResults:
    """What a file holds: cases, metrics and outcomes as the store takes them, and how many.

    `last_digits` is what the last digit of a metric's numbers counts, in its base unit.
    """

    new: NewRun
    planned: Sequence[PlannedCase]
    metrics: Mapping[str, Mapping[str, MetricInfo]]
    outcomes: Sequence[tuple[str, str, Outcome]]
    last_digits: Mapping[str, float]
    rows: int
    blanks: int

    @property
    def values(self) -> int:
        """How many numbers there are."""
        return sum(len(outcome.metrics) for *_, outcome in self.outcomes)


def read_csv(
    path: Path, mapping: CsvMapping, *, catalogue: Catalogue, hosts: ImportedHosts = NO_HOSTS
) -> CsvResults:
    """Return the file's rows as the results of one run; errors as of `import_csv`."""
    (results,) = _read_runs(path, replace(mapping, apart=math.inf), catalogue, hosts)
    return results


def _read_runs(
    path: Path, mapping: CsvMapping, catalogue: Catalogue, hosts: ImportedHosts
) -> list[CsvResults]:
    """Return the results of each run in the file, oldest first."""
    engine = _engine(catalogue, mapping.engine)
    reader = RowReader(CsvFile(path), mapping, engine, hosts)
    groups = reader.read()
    if not any(row.metrics for group in groups for row in group):
        raise InputError(f"{path} holds no measurement in the columns of the metrics")
    runs = (_results(path, mapping, engine, group, reader.last_digits) for group in groups)
    return [results for results in runs if results.planned]


def _results(
    path: Path,
    mapping: CsvMapping,
    engine: EngineInfo,
    rows: Sequence[MeasuredRow],
    last_digits: Mapping[str, float],
) -> CsvResults:
    cases = _by_case(rows)
    test = mapping.test or engine.name
    outcomes = [
        (test, key, _outcome(number, row))
        for key, group in cases.items()
        for number, row in enumerate(group, 1)
        if row.metrics
    ]
    metrics = result_metrics(engine)
    names = [binding.name for binding in mapping.metrics]
    planned = [
        PlannedCase(test, group[0].case, len(group), _absence(group)) for group in cases.values()
    ]
    values = sum(len(row.metrics) for row in rows)
    return CsvResults(
        new=imported_run(mapping.plan or path.stem, path),
        planned=planned,
        metrics={engine.name: {name: MetricInfo.of(metrics[name]) for name in names}},
        outcomes=outcomes,
        last_digits=last_digits,
        rows=len(rows),
        blanks=len(rows) * len(mapping.metrics) - values,
    )


def import_csv(
    store: Store,
    path: Path,
    mapping: CsvMapping,
    *,
    catalogue: Catalogue,
    at: float | None = None,
    labels: Mapping[str, str] | None = None,
    hosts: ImportedHosts = NO_HOSTS,
) -> list[ImportResult]:
    """Store the file's rows as imported runs, all of them or nothing.

    They are one run, unless the file says when each was measured: then a new one begins wherever
    nothing was measured for more than `mapping.apart` seconds, as between nights.

    Rows of the same case become its replications 1, 2, 3, …, in the order in which they were
    measured if each says when, unless they are means. A metric's cell
    that is empty or `---` is no measurement, and one with a word of ABSENCES says why; a row
    without a number is no replication. `at` is when it was measured (see `Store.import_run`),
    `hosts` are those of the links. InputError for a mapping that is wrong, FileProblems for a file
    that is, with every mistake in it.
    """
    runs = _read_runs(path, mapping, catalogue, hosts)
    for results in runs:
        imported_at((outcome.started_at for *_, outcome in results.outcomes), at)
    # Who calls it again after a failure has no run twice.
    with store.together():
        return [_store(store, results, at, labels or {}, hosts) for results in runs]


def _store(
    store: Store,
    results: CsvResults,
    at: float | None,
    labels: Mapping[str, str],
    hosts: ImportedHosts,
) -> ImportResult:
    run = store.import_run(
        replace(results.new, labels=labels),
        results.planned,
        results.metrics,
        results.outcomes,
        at=at,
    )
    store.add_peaks(run, hosts.peaks(entry.case for entry in results.planned))
    return ImportResult(
        run=run,
        cases=len({key for _, key, _ in results.outcomes}),
        rows=results.rows,
        replications=len(results.outcomes),
        values=results.values,
        blanks=results.blanks,
    )


def _absence(group: Sequence[MeasuredRow]) -> str:
    """Return why the case has no number at all, if the file says so."""
    return "" if any(row.metrics for row in group) else group[0].absence


def _outcome(number: int, row: MeasuredRow) -> Outcome:
    return Outcome(number, row.started_at, row.metrics, logs=row.logs(), published=row.published)


def _engine(catalogue: Catalogue, name: str) -> EngineInfo:
    if name not in catalogue.engines:
        hint = suggest_or_list(name, catalogue.engines)
        raise InputError(f"there is no engine {name!r}{hint}")
    return catalogue.engines[name]


def _by_case(rows: Sequence[MeasuredRow]) -> Mapping[str, Sequence[MeasuredRow]]:
    """Return the rows that hold a value, or say why they hold none, by case key."""
    cases: dict[str, list[MeasuredRow]] = {}
    for row in rows:
        if row.metrics or row.absence:
            cases.setdefault(row.case.key, []).append(row)
    return {key: in_measured_order(group) for key, group in cases.items()}
