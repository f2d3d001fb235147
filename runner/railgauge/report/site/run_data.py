"""A run's results as a file of data, which scripts of pages load and the first page is made of."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import starmap
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pydantic_core import from_json

from railgauge.base.characters import visible
from railgauge.compare.case_history import NearbyChanges
from railgauge.compare.compare import Result
from railgauge.compare.reading import ReadRuns, case_names
from railgauge.compare.renames import CaseName
from railgauge.compare.verdict import Verdict
from railgauge.plan.case_names import BETWEEN, CaseNames
from railgauge.plan.catalogue.headlines import display_base
from railgauge.report.site.site_pages import RunJob, log_file
from railgauge.report.verdicts.history.history_words import beside_lines
from railgauge.stats.interval import median_interval
from railgauge.store import Store
from railgauge.store.records import PlannedCase, Series

if TYPE_CHECKING:
    from railgauge.report.site.run_page import VerdictText

# The script of the pages that load it calls its function so.
_CALL = "addRun"
# Of a case without a metric that is judged, so many of its unread.
_OTHERS = 4
# Ends of intervals are for pictures.
_DIGITS = 6


class MetricKind(NamedTuple):
    """A metric as a run has it, shown by the base `unit`; of `better` neither: no direction."""

    name: str
    unit: str
    better: str


class DataCase(NamedTuple):
    """A case: its test and key, its link and what else names it, its hosts, its page of logs.

    A group's has no hosts, as all of them take part alike. All but the test and the key are for
    readers, without acting characters.
    """

    test: str
    key: str
    link: str
    differing: str
    client: str
    server: str
    log: str = ""

    @property
    def name(self) -> str:
        """The case's name with its test."""
        return f"{visible(self.test)}: {BETWEEN.join(filter(None, (self.link, self.differing)))}"


class MetricRow(NamedTuple):
    """A metric of a case: `case` and `metric` are places in lists, `median` is None without values.

    Where it is a published mean of `n` replications, `mean` says so.
    `low` and `high` are the ends of its interval of `percent` %. `change` is the verdict in a word,
    "lost" where it could not be measured any more, empty where nothing was compared. There are the
    `ratio` with the ends of its interval, the median `before` and the `smallest` change that
    matters, a share: in the file not of what is the same.
    """

    case: int
    metric: int
    median: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    suspect: int = 0
    failed: int = 0
    change: str = ""
    percent: int = 95
    mean: bool = False
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    before: float | None = None
    smallest: float | None = None


@dataclass(frozen=True, slots=True)
class RunData:
    """What a run measured and what became of it.

    `against` are the runs it was compared with, `baseline` whether they are one. `verdict` is that
    of the page, as a mapping. `beside` are lines of what changed since the plan's run before.
    """

    run: int
    against: tuple[int, ...]
    baseline: bool
    verdict: Mapping[str, Any] | None
    metrics: tuple[MetricKind, ...]
    cases: tuple[DataCase, ...]
    rows: tuple[MetricRow, ...]
    beside: tuple[str, ...]

    def text(self) -> str:
        """Return the file: a call of the script's function. It has ASCII characters alone."""
        fields = {
            "run": self.run,
            "against": self.against,
            "baseline": self.baseline,
            "verdict": self.verdict,
            "metrics": self.metrics,
            "cases": self.cases,
            "rows": [_trimmed(row) for row in self.rows],
            "beside": self.beside,
        }
        written = json.dumps(fields, separators=(",", ":"), allow_nan=False)
        # Of a name nothing may look like markup, wherever the text comes to stand.
        return f"{_CALL}({written.replace('<', chr(92) + 'u003c')});\n"

    def parts(self, count: int) -> list[RunData]:
        """Return the data in so many parts, each of the cases that `_part_of` puts there."""
        cases: list[list[DataCase]] = [[] for _ in range(count)]
        rows: list[list[MetricRow]] = [[] for _ in range(count)]
        places = []
        for case in self.cases if count else ():
            part = _part_of(case.key, count)
            places.append((part, len(cases[part])))
            cases[part].append(case)
        for row in self.rows if count else ():
            part, place = places[row.case]
            rows[part].append(row._replace(case=place))
        return [
            replace(self, verdict=None, cases=tuple(of_part), rows=tuple(of_these))
            for of_part, of_these in zip(cases, rows, strict=True)
        ]

    def measured(self) -> Iterator[tuple[DataCase, MetricKind, MetricRow]]:
        """Yield the rows, each with its case and its metric."""
        for row in self.rows:
            yield self.cases[row.case], self.metrics[row.metric], row


def _part_of(key: str, parts: int) -> int:
    """Return in which of the parts a case is, as `partOf` of the pages' script does."""
    return sum(map(ord, key)) % parts


def read_run_data(text: str) -> RunData:
    """Return what `RunData.text` wrote, whatever lines stand below."""
    call, _, _ = text.partition("\n")
    # In half the time of `json.loads`: a site's first page reads a hundred runs.
    fields = from_json(call.removeprefix(f"{_CALL}(").removesuffix(");"))
    return RunData(
        fields["run"],
        tuple(fields["against"]),
        fields["baseline"],
        fields["verdict"],
        tuple(starmap(MetricKind, fields["metrics"])),
        tuple(starmap(DataCase, fields["cases"])),
        tuple(starmap(MetricRow, fields["rows"])),
        tuple(fields["beside"]),
    )


def run_data(
    store: Store,
    reading: ReadRuns,
    job: RunJob,
    names: CaseNames,
    verdict: Verdict | None,
    words: VerdictText | None,
) -> RunData:
    """Return the data of a run, whose cases `names` names."""
    metrics: dict[MetricKind, int] = {}
    results = {result.name: result for result in verdict.comparison.results} if verdict else {}
    planned_cases = reading.cases[job.run]
    by_case = {name: place for place, name in enumerate(case_names(planned_cases))}
    unread = _unread_series(store, reading, job.run)
    rows: list[MetricRow] = []
    for name, place in by_case.items():
        of_case = reading.series[job.run].get(name, {})
        for series in [*of_case.values(), *unread.get(name, ())]:
            kind = MetricKind(
                series.metric, display_base(series.metric, series.unit), series.better
            )
            result = results.pop((*name, series.metric), None)
            number = metrics.setdefault(kind, len(metrics))
            rows.append(_judged(_measured(place, number, series), result))
    for (test, key, metric), result in results.items():
        # Never measured, or not in this run.
        kind = MetricKind(metric, display_base(metric, result.unit), result.better)
        number = metrics.setdefault(kind, len(metrics))
        empty = MetricRow(by_case[test, key], number, None, failed=result.sides[1].failed)
        rows.append(_judged(empty, result))
    return RunData(
        job.run,
        job.against.runs if job.against else (),
        bool(job.against and job.against.baseline),
        asdict(words) if words else None,
        tuple(metrics),
        tuple(_data_case(planned, names, job) for planned in planned_cases),
        tuple(sorted(rows, key=lambda row: row[:2])),
        tuple(_beside(store, job)),
    )


def _data_case(planned: PlannedCase, names: CaseNames, job: RunJob) -> DataCase:
    test, case = planned.test, planned.case
    of_group = bool(case.members) and case.server is None
    return DataCase(
        test,
        case.key,
        visible(case.link),
        names.case(planned).removeprefix(visible(case.link)).removeprefix(BETWEEN),
        "" if of_group else visible(case.client),
        visible(case.server or ""),
        log_file(job.run, test, case.key) if (test, case.key) in job.logged else "",
    )


def _unread_series(
    store: Store, reading: ReadRuns, run: int
) -> dict[tuple[str, str], list[Series]]:
    """Return, of the cases of which nothing that was read has a value, what else they measured."""
    empty = {
        (planned.test, planned.case.key)
        for planned in reading.cases[run]
        if not any(
            len(series.values)
            for series in reading.series[run].get((planned.test, planned.case.key), {}).values()
        )
    }
    names = {name for of_engine in store.metric_names().values() for name in of_engine}
    unread: dict[CaseName, list[Series]] = {}
    for series in store.series([run], names) if empty else ():
        of_case = unread.setdefault((series.test, series.case.key), [])
        if len(series.values) and len(of_case) < _OTHERS:
            of_case.append(series)
    return {name: of_case for name, of_case in unread.items() if name in empty}


def _measured(case: int, metric: int, series: Series) -> MetricRow:
    values = series.values
    if not len(values):
        return MetricRow(case, metric, None, failed=series.failed)
    bounds = median_interval(values, series.level)
    suspect = int(np.count_nonzero(series.suspect))
    middle = median(values.tolist())
    low = high = None
    if bounds:
        # Also when shortened they hold it.
        low, high = min(_shortened(bounds.low), middle), max(_shortened(bounds.high), middle)
    counts = series.mean_of or len(values), suspect, series.failed
    percent = round(100 * series.level) if bounds else 95
    return MetricRow(case, metric, middle, low, high, *counts, "", percent, series.mean_of > 0)


def _judged(row: MetricRow, result: Result | None) -> MetricRow:
    if result is None:
        return row
    judged = result.judged
    ratios = (judged.ratio, judged.low, judged.high) if judged.ratio > 0 else (math.nan,) * 3
    ratio, low, high = map(_short, ratios)
    return row._replace(
        change="lost" if result.lost else judged.change,
        ratio=ratio,
        ratio_low=low,
        ratio_high=high,
        before=result.sides[0].median,
        smallest=result.smallest,
    )


def _short(value: float) -> float | None:
    return _shortened(value) if math.isfinite(value) else None


def _shortened(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _trimmed(row: MetricRow) -> Sequence[object]:
    """Return the row without what it ends with that is as by default.

    Of what is the same, which most is, what it was before is left out, too.
    """
    ratio = MetricRow._fields.index("ratio")
    fields = list(row[:ratio] if row.change == "same" else row)
    defaults = [None, None, None, *MetricRow._field_defaults.values()]
    while len(fields) > 3 and fields[-1] == defaults[len(fields) - 1]:
        fields.pop()
    return fields


def _beside(store: Store, job: RunJob) -> Iterator[str]:
    if job.before is None:
        return
    difference = NearbyChanges(store).between(job.before, job.head)
    if difference is not None:
        yield from beside_lines(difference)
