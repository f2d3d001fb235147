"""Puts what `railgauge export csv` wrote back into a database, as imported runs.

The file has the values and whose they are. What it doesn't have (facts, system logs, warm-ups, both
ends' settings, why a replication failed or is suspect) is not made up: `railgauge db copy` copies
all of that between databases.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from railgauge.base.errors import FileProblems, InputError, Problem
from railgauge.base.systemlog import Suspicion
from railgauge.exchange.exporting.csv_row import CsvRow, WrongCaseError, parse
from railgauge.exchange.exporting.view_rows import COLUMNS
from railgauge.exchange.importing.result import ImportResult
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.catalogue.result_metrics import metric_of_results
from railgauge.store import Store
from railgauge.store.records import MetricInfo, Outcome, PlannedCase, imported_at, imported_run

_CODE = "imported"
_REASON = "the file that was imported does not say why"
# More are of no help to anybody.
_MOST_PROBLEMS = 50


def import_exported(
    store: Store,
    path: Path,
    *,
    catalogue: Catalogue,
    at: float | None = None,
    labels: Mapping[str, str] | None = None,
) -> list[ImportResult]:
    """Store each run of the file as an imported one, all of them or nothing.

    Each began when its first replication did; `at` (seconds since 1970) where the file doesn't say.
    Which direction of a metric is better and what kind it is, the catalogue says; of one it doesn't
    know, neither is, and only the unit says its kind.
    Nothing is stored unless all of the file is right: FileProblems with every mistake in it (a
    case of a group is one, as the view doesn't name the group's members), InputError for a file
    that can't be read.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(f"{path} can't be read twice, as it has to be: write it to a file first")
    for run in _runs(path):
        imported_at(run.moments(), at)
    # Who calls it again after a failure has no run twice.
    with store.together():
        return [_store(store, run, path, catalogue, at, labels or {}) for run in _runs(path)]


@dataclass(slots=True)
class _Replication:
    started_at: float | None
    status: str
    metrics: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class _Run:
    """A run as the file gives it: test and case key -> case, then replications by number."""

    number: int
    plan: str
    git_commit: str
    units: dict[tuple[str, str], str] = field(default_factory=dict)
    cases: dict[tuple[str, str], Case] = field(default_factory=dict)
    replications: dict[tuple[str, str], dict[int, _Replication]] = field(default_factory=dict)

    def moments(self) -> Iterator[float | None]:
        """Yield when each replication began, in seconds since 1970."""
        for by_number in self.replications.values():
            yield from (replication.started_at for replication in by_number.values())

    def add(self, row: CsvRow) -> None:
        """Add the row; ValueError where it contradicts what the run's others say."""
        if (row.plan, row.git_commit) != (self.plan, self.git_commit):
            raise ValueError(f"plan or git_commit differs from that of run {self.number} above")
        key = row.test, row.case.key
        self.cases.setdefault(key, row.case)
        replications = self.replications.setdefault(key, {})
        fresh = row.replication not in replications
        replication = replications.setdefault(
            row.replication, _Replication(row.started_at, row.status)
        )
        if (row.started_at, row.status) != (replication.started_at, replication.status):
            raise ValueError("started_at or status differs from that of this replication above")
        if row.metric is None:
            if not fresh:
                raise ValueError("this failed replication stands in the file already")
            return
        unit = self.units.setdefault((row.case.engine, row.metric), row.unit)
        if unit != row.unit:
            raise ValueError(f"{row.metric} is in {unit!r} above: one unit a run")
        if row.metric in replication.metrics:
            raise ValueError(f"{row.metric} of this replication stands in the file already")
        replication.metrics[row.metric] = row.value


def _runs(path: Path) -> Iterator[_Run]:
    """Yield the file's runs, one in memory at a time; FileProblems at the end if it has any."""
    problems: list[Problem] = []
    run: _Run | None = None
    numbers: set[int] = set()
    case_problems: set[str] = set()
    for line, fields in _lines(path):
        try:
            row = parse(fields)
            if run is None or row.run != run.number:
                if row.run in numbers:
                    raise ValueError(f"run {row.run} stands in the file in two places")
                numbers.add(row.run)
                if run is not None and not problems:
                    yield run
                run = _Run(row.run, row.plan, row.git_commit)
            run.add(row)
        except ValueError as error:
            if isinstance(error, WrongCaseError) and str(error) in case_problems:
                continue
            case_problems.add(str(error))
            problems.append(Problem(str(path), line, 1, str(error)))
            if len(problems) >= _MOST_PROBLEMS:
                break
    if problems:
        raise FileProblems(problems)
    if run is None:
        raise InputError(f"{path} holds no measurement")
    yield run


def _lines(path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield each row after the header, and the line where it begins."""
    line = 1
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            if tuple(next(reader, ())) != COLUMNS:
                raise InputError(
                    f"{path} is no file of `railgauge export csv`, whose columns are "
                    f"{','.join(COLUMNS)}: for another one say --engine and --metric"
                )
            line = reader.line_num + 1
            for fields in reader:
                yield line, fields
                line = reader.line_num + 1
    except csv.Error as error:
        raise FileProblems([Problem(str(path), line, 1, str(error))]) from error
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise InputError(f"{path} can't be read: {reason}") from error


def _store(
    store: Store,
    run: _Run,
    path: Path,
    catalogue: Catalogue,
    at: float | None,
    labels: Mapping[str, str],
) -> ImportResult:
    metrics: dict[str, dict[str, MetricInfo]] = {}
    for (engine, name), unit in run.units.items():
        metric = metric_of_results(catalogue, engine, name, unit)
        info = MetricInfo(unit, "neither") if metric is None else MetricInfo.of(metric)
        metrics.setdefault(engine, {})[name] = replace(info, unit=unit)
    outcomes = [
        (test, key, _outcome(number, replication))
        for (test, key), replications in run.replications.items()
        for number, replication in replications.items()
    ]
    new = imported_run(run.plan, path, run.git_commit, labels)
    planned = [
        PlannedCase(key[0], case, max(run.replications[key])) for key, case in run.cases.items()
    ]
    number = store.import_run(new, planned, metrics, outcomes, at=at)
    return ImportResult(
        run=number,
        cases=len(planned),
        replications=len(outcomes),
        values=sum(len(outcome.metrics) for *_, outcome in outcomes),
    )


def _outcome(number: int, replication: _Replication) -> Outcome:
    outcome = Outcome(number, replication.started_at, replication.metrics)
    if replication.status == "failed":
        return replace(outcome, status="failed", error_code=_CODE, error_message=_REASON)
    if replication.status == "suspect":
        return replace(outcome, status="suspect", suspicions=(Suspicion(_CODE, None, _REASON),))
    return outcome
