"""Reads the rows of a CSV file that others wrote as cases and values, and notes every mistake."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from operator import attrgetter

from railgauge.base.errors import FileProblems, InputError, Problem
from railgauge.base.suggestion import suggest
from railgauge.base.systemlog import SystemLog
from railgauge.base.units import parse_moment
from railgauge.engine.outcome import ABSENCES
from railgauge.exchange.importing.csv_file import CsvCell, CsvFile
from railgauge.exchange.importing.csv_mapping import (
    SPREADS,
    Binding,
    CsvMapping,
    check_names,
    fixed_parameters,
    parse_count,
    parse_counted,
    parse_logged,
    parse_metric,
    parse_parameter,
    unit_scale,
)
from railgauge.exchange.importing.imported_hosts import ImportedHosts
from railgauge.plan.cases import Case, Value, case_key
from railgauge.plan.catalogue import EngineInfo
from railgauge.plan.catalogue.result_metrics import result_metrics
from railgauge.store.records import PublishedValue

# What stands for "no measurement" in a metric's cell, as in the tables of papers.
_BLANK = ("", "---")
# More are of no help to anybody.
_MOST_PROBLEMS = 50


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """A row as a case and its values; `cell` is its first one, for messages."""

    cell: CsvCell
    case: Case
    started_at: float | None
    metrics: Mapping[str, float]
    published: Mapping[str, PublishedValue]
    counts: Mapping[str, Mapping[str, int]]

    @property
    def kind(self) -> str:
        """What the row is of its case: a mean, which its numbers have beside them, or another."""
        if self.metrics.keys() & self.published:
            return "mean"
        return "absence" if self.absence else "value" if self.metrics else ""

    @property
    def absence(self) -> str:
        """Why nothing of the row is a number, if the file says so."""
        if self.metrics:
            return ""
        return next((value.absence for value in self.published.values() if value.absence), "")

    def logs(self) -> tuple[SystemLog, ...]:
        """Return what was counted in a second on each side."""
        hosts = {"client": self.case.client, "server": self.case.server}
        return tuple(
            SystemLog(host, "replication", self.started_at or 0.0, 1.0, 100, counts, {})
            for side, host in hosts.items()
            if host is not None and (counts := self.counts.get(side))
        )


class RowReader:
    """Turns rows of cells into cases and values, noting every mistake."""

    def __init__(
        self, file: CsvFile, mapping: CsvMapping, engine: EngineInfo, hosts: ImportedHosts
    ) -> None:
        self.file = file
        self.apart = mapping.apart
        self.engine = engine
        self.hosts = hosts
        self.problems: list[Problem] = []
        self.fixed = fixed_parameters(mapping, engine)
        check_names(mapping, engine)
        self.link_name = mapping.link_name
        self.link = None if self.link_name else self._column(mapping.link)
        self.started_at = self._column(mapping.started_at) if mapping.started_at else None
        self.parameters = [self._parameter(binding) for binding in mapping.parameters]
        self.metrics = [self._metric(binding) for binding in mapping.metrics]
        self.mean_of = parse_count(mapping.mean_of)
        self.mean_column = None
        if mapping.mean_of and self.mean_of is None:
            self.mean_column = self._column(mapping.mean_of)
        self.beside = {
            name: {binding.name: self._metric(binding) for binding in getattr(mapping, name)}
            for name in SPREADS
        }
        self.logged = [
            (*parse_logged(binding.name), self._column(binding.source))
            for binding in mapping.logged
        ]
        self.last_digits: dict[str, float] = {}
        self._raise_problems()

    def read(self) -> list[list[MeasuredRow]]:
        """Return the rows of each run, oldest first.

        `last_digits` then has what the last digit of a metric's numbers counts, the least of them.
        """
        rows = []
        for cells in self.file.rows:
            rows.append(self._row(cells))
            if len(self.problems) >= _MOST_PROBLEMS:
                break
        groups = _runs(rows, self.apart)
        for group in groups:
            self._check_alone(group)
        self._raise_problems()
        return groups

    def _row(self, cells: Sequence[CsvCell]) -> MeasuredRow:
        link = self._link(cells)
        parameters = dict(self.fixed)
        for name, column, parse in self.parameters:
            value = self._parse(cells[column], name, parse)
            if value is not None:
                parameters[name] = value
        metrics: dict[str, float] = {}
        published: dict[str, PublishedValue] = {}
        mean_of = self._mean_of(cells)
        for name, column, scale in self.metrics:
            cell = cells[column]
            if cell.text in _BLANK:
                continue
            absence = next((word for word in ABSENCES if word == cell.text), None)
            if absence is not None:
                published[name] = PublishedValue(absence=absence)
            elif (number := self._parse(cell, name, scale)) is not None:
                metrics[name] = float(number)
                last_digit = _last_digit(cell.text, scale)
                self.last_digits[name] = min(self.last_digits.get(name, last_digit), last_digit)
                if mean_of is not None:
                    published[name] = self._mean(cells, name, mean_of)
                    self._check_spread(cells, name, metrics[name], published[name])
        client, server = self._ends(cells, link)
        key = case_key(self.engine.name, link, client, server, parameters)
        case = Case(key, self.engine.name, link, client, server, parameters)
        counts = self._counts(cells, case)
        if counts and not metrics:
            self._report(
                cells[0], "what was counted stands beside a metric, and there is none here"
            )
        return MeasuredRow(cells[0], case, self._moment(cells), metrics, published, counts)

    def _check_alone(self, rows: Sequence[MeasuredRow]) -> None:
        """Note each row beside a mean of its case, or a second one that says why it has no number.

        `rows` are a run's.
        """
        first_cells: dict[str, dict[str, CsvCell]] = {}
        for row in filter(lambda row: row.kind, rows):
            firsts = first_cells.setdefault(row.case.key, {})
            for other, first in firsts.items():
                if "mean" in (row.kind, other) or row.kind == other == "absence":
                    message = f"line {first.line} has this case already: a mean has one row"
                    self._report(row.cell, message)
                    break
            firsts.setdefault(row.kind, row.cell)

    def _mean_of(self, cells: Sequence[CsvCell]) -> int | None:
        """Return of how many replications the row's numbers are means; None: it doesn't say."""
        if self.mean_column is None:
            return self.mean_of
        cell = cells[self.mean_column]
        if cell.text in _BLANK:
            return None
        number = parse_count(cell.text)
        if number is None:
            self._report(cell, f"{cell.text!r} is no number of replications: write 1, 2, 3 …")
        return number

    def _mean(self, cells: Sequence[CsvCell], name: str, mean_of: int) -> PublishedValue:
        """Return what the row says of a mean and of how its replications spread."""
        spread: dict[str, float] = {}
        for beside, bindings in self.beside.items():
            if name not in bindings:
                continue
            _, column, scale = bindings[name]
            cell = cells[column]
            if cell.text in _BLANK:
                continue
            number = self._parse(cell, f"{beside} of {name}", scale)
            if number is not None:
                spread[beside] = float(number)
                if beside == "stdev" and spread[beside] < 0:
                    self._report(cell, "a standard deviation is 0 or more")
        return PublishedValue(
            mean_of, spread.get("stdev"), spread.get("minimum"), spread.get("maximum")
        )

    def _check_spread(
        self, cells: Sequence[CsvCell], name: str, mean: float, published: PublishedValue
    ) -> None:
        """Note a least value above the mean, or a greatest below it, beyond what rounding does."""
        _, column, parse = next(metric for metric in self.metrics if metric[0] == name)
        room = _last_digit(cells[column].text, parse) / 2
        for beside, end, sign, words in (
            ("minimum", published.minimum, 1, "the least value is above the mean"),
            ("maximum", published.maximum, -1, "the greatest value is below the mean"),
        ):
            if end is None:
                continue
            _, column, parse = self.beside[beside][name]
            if sign * (end - mean) > room + _last_digit(cells[column].text, parse) / 2:
                self._report(cells[column], f"{words}: is it in another unit, or column?")

    def _counts(self, cells: Sequence[CsvCell], case: Case) -> dict[str, dict[str, int]]:
        """Return what system logs counted in a second, by side and counter."""
        counts: dict[str, dict[str, int]] = {}
        for side, counter, column in self.logged:
            cell = cells[column]
            if cell.text in _BLANK or cell.text in ABSENCES:
                continue
            number = parse_counted(cell.text)
            if number is None:
                self._report(cell, f"{cell.text!r} is no count: write a whole number, or ---")
            elif side == "server" and case.server is None:
                message = f"nothing says which host is the server of {case.link!r}"
                self._report(cell, f"{message}: describe that link in a hosts file (--hosts)")
            else:
                counts.setdefault(side, {})[counter] = number
        return counts

    def _ends(self, cells: Sequence[CsvCell], link: str) -> tuple[str, str | None]:
        """Return the hosts of a link or, of a host, itself; a link nobody describes is its own."""
        ends = self.hosts.ends(link)
        if ends is None:
            self._report(
                cells[self.link or 0],
                f"the hosts file has no link and no host {link!r}: add it there",
            )
            return link, None
        return ends

    def _link(self, cells: Sequence[CsvCell]) -> str:
        if self.link is None:
            return self.link_name
        cell = cells[self.link]
        if not cell.text or not cell.text.isprintable():
            self._report(cell, "a link's name is wanted here")
        return cell.text

    def _moment(self, cells: Sequence[CsvCell]) -> float | None:
        if self.started_at is None or not (cell := cells[self.started_at]).text:
            return None
        try:
            return parse_moment(cell.text)
        except ValueError as error:
            self._report(cell, str(error))
            return None

    def _parse(self, cell: CsvCell, name: str, parse: Callable[[str], Value]) -> Value | None:
        if not cell.text:
            self._report(cell, f"{name!r}: the cell is empty, but each row needs a value")
            return None
        try:
            return parse(cell.text)
        except ValueError as error:
            self._report(cell, f"{name!r}: {error}")
            return None

    def _column(self, name: str) -> int:
        columns = self.file.columns
        if name not in columns:
            hint = suggest(name, columns) or f": the columns are {', '.join(columns)}"
            self._report(self.file.header[0], f"there is no column {name!r}{hint}")
            return 0
        return columns[name]

    def _source(self, source: str) -> tuple[int, str]:
        """Return the column and unit in COLUMN or COLUMN:UNIT; a column may have a colon, too."""
        column, colon, unit = source.rpartition(":")
        if source in self.file.columns or not colon:
            return self._column(source), ""
        return self._column(column.strip()), unit.strip()

    def _parameter(self, binding: Binding) -> tuple[str, int, Callable[[str], Value]]:
        info = self.engine.parameters[binding.name]
        column, unit = self._source(binding.source)
        if unit and not info.unit:
            raise InputError(f"parameter {info.name!r} has no unit: leave ':{unit}' out")
        return info.name, column, lambda text: parse_parameter(info, text, unit)

    def _metric(self, binding: Binding) -> tuple[str, int, Callable[[str], float]]:
        column, unit = self._source(binding.source)
        scale = unit_scale(binding.name, result_metrics(self.engine)[binding.name].unit, unit)
        return binding.name, column, lambda text: parse_metric(text, scale)

    def _report(self, cell: CsvCell, message: str) -> None:
        self.problems.append(self.file.problem(cell, message))

    def _raise_problems(self) -> None:
        if self.problems:
            problems = sorted(self.problems, key=attrgetter("line", "column"))
            raise FileProblems(problems[:_MOST_PROBLEMS])


def _last_digit(text: str, parse: Callable[[str], float]) -> float:
    """Return what the last digit of a printed number counts, in its base unit."""
    number = Decimal(text)
    exponent = int(number.as_tuple().exponent)
    # Of nothing no digit counts more than one.
    return parse(f"1e{exponent if number else min(exponent, 0)}")


def _runs(rows: Sequence[MeasuredRow], apart: float) -> list[list[MeasuredRow]]:
    """Return the rows by run: a new one begins where nothing was measured for longer than `apart`.

    A row that doesn't say when it was measured belongs to the run of the one before it.
    """
    moments = sorted(row.started_at for row in rows if row.started_at is not None)
    begins = [later for earlier, later in pairwise(moments) if later - earlier > apart]
    groups: list[list[MeasuredRow]] = [[] for _ in range(len(begins) + 1)]
    index = 0
    for row in rows:
        if row.started_at is not None:
            index = bisect_right(begins, row.started_at)
        groups[index].append(row)
    return groups
