"""The cells of a table: a number of one case, or what its hosts can do in theory, or nothing."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.base.number import NOT_DEFINED, format_number, in_best_unit, scale
from railgauge.report.definition.statistic import (
    MEANS,
    interval_of,
    interval_words,
    is_published_mean,
    own_unit,
    summary_of,
    value_of,
    why_none,
    why_unpublished,
)
from railgauge.report.tables.logged import is_logged
from railgauge.report.tables.marks import Marks, Remark, remarks_on
from railgauge.report.tables.notes import of_one_metric
from railgauge.report.tables.references import compare, interval_ends
from railgauge.report.tables.run_context import RunContext
from railgauge.report.tables.table import Cell, Column, ReferenceValue
from railgauge.report.tables.theoretical import Limit, NoLimit, Theoretical
from railgauge.stats.digits import (
    decimals_of_interval,
    decimals_of_step,
    decimals_of_width,
)
from railgauge.stats.interval import Interval
from railgauge.stats.oddities import oddities
from railgauge.stats.summaries import summaries
from railgauge.stats.summary import Summary
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.report.definition.definition_model import CellSpec, TableSpec

_ONE, _PERCENT = Decimal(1), Decimal("0.01")
_ENDS = ("interval_low", "interval_high")
# A share of the values below which an interval is the rounding of doubles.
_ROUNDING = 1e-9


class Source(NamedTuple):
    """What a cell is made of: a series and the one it is compared with, by index, or a limit."""

    series: int | None
    limit: Limit | NoLimit | None = None
    reference: int | None = None


class CellContent(NamedTuple):
    """What a cell shows: `numbers` are None if it is missing, none if it has no such statistic.

    `case_remarks` are about the series' case, `remarks` about this very cell.
    """

    series: Series | None = None
    numbers: tuple[float, ...] | None = None
    summary: Summary | None = None
    case_remarks: Sequence[Remark] = ()
    remarks: Sequence[Remark] = ()
    limit: Limit | None = None
    reference: ReferenceValue | None = None
    beside: Sequence[float] = ()
    interval: Interval | None = None

    @property
    def value(self) -> float | None:
        """The number that the cell shows, in the column's base unit."""
        numbers = self.numbers
        return numbers[0] if numbers and math.isfinite(numbers[0]) else None


_NOTHING = CellContent()
_NO_CASE = (0, "", "", 0, 0, 0)


class ContentMaker:
    """Sums up the series of a table and finds what its cells show."""

    def __init__(
        self,
        table: str,
        series: Mapping[int, Series],
        in_columns: Collection[int],
        theoretical: Theoretical,
        context: RunContext,
    ) -> None:
        """`series` are all that the table needs, by index; those `in_columns` are shown."""
        self._table = table
        self._series = series
        self._in_columns = in_columns
        self._theoretical = theoretical
        self._context = context
        # All at once, as one by one they take longer than all the rest.
        values = {index: entry.values for index, entry in series.items()}
        self._odd = dict(zip(values, oddities(list(values.values())), strict=True))
        measured = [index for index, numbers in values.items() if len(numbers)]
        levels = [series[index].level for index in measured]
        summed = summaries([values[index] for index in measured], levels)
        self._summaries = {
            index: summary_of(series[index], summary)
            for index, summary in zip(measured, summed, strict=True)
        }
        self._remarks: dict[int, list[Remark]] = {}

    def content(self, column: Column, source: Source) -> CellContent:
        """Return what a cell of the column shows."""
        if column.theoretical:
            return _theoretical(source.limit)
        if source.series is None:
            return _NOTHING
        series, summary = self._series[source.series], self._summaries.get(source.series)
        case_remarks = self._remarks_on(source.series)
        if summary is None:
            return CellContent(series, case_remarks=case_remarks)
        if column.compared:
            return self._compared(column, source, summary)
        remarks: list[Remark] = []
        limit = self._limit(column, series, remarks)
        if column.relative_to and limit is None:
            return CellContent(series, None, summary, case_remarks, remarks)
        numbers = _numbers(column.statistic, series, summary, limit, remarks)
        interval = interval_of(series, summary, column.statistic)
        beside: tuple[float, ...] = ()
        if column.beside == "interval" and numbers and column.statistic in MEANS:
            beside = _mean_ends(interval, column, limit, remarks)
        elif column.beside and numbers:
            beside = _numbers(column.beside, series, summary, limit, remarks)
        return CellContent(
            series, numbers, summary, case_remarks, remarks, limit, None, beside, interval
        )

    def _compared(self, column: Column, source: Source, summary: Summary) -> CellContent:
        assert source.series is not None  # or there would be nothing to compare
        series, case_remarks = self._series[source.series], self._remarks_on(source.series)
        remarks: list[Remark] = []
        index = source.reference
        other_summary = None if index is None else self._summaries.get(index)
        if index is None or other_summary is None:
            statement = None if index is None else self._series[index].published
            if statement is not None and statement.absence is not None:
                remarks.append(Remark(f"{column.against}: {statement.absence}"))
            else:
                where = f"{column.against}, all else being equal"
                remarks.append(Remark(f"nothing was measured at {where}, to compare it with"))
            return CellContent(series, None, summary, case_remarks, remarks)
        other = self._series[index]
        if other.unit != series.unit:
            raise InputError(
                f"table {self._table!r}: {series.metric} is in {series.unit!r} here and in"
                f" {other.unit!r} at {column.against}, which can't be compared:"
                " name another metric, or drop 'against'"
            )
        if index not in self._in_columns:
            remarks += [
                Remark(f"{column.against}: {remark.text}", remark.kind)
                for remark in self._remarks_on(index)
            ]
            printed = self._series[index].published is not None and other_summary.n == 1
            if other_summary.n != summary.n and not printed:
                remarks.append(Remark(f"{column.against}: n = {other_summary.n}"))
        numbers, reference = compare(column, (series, summary), (other, other_summary), remarks)
        # An interval of what is compared with itself says nothing.
        if source.series == index:
            return CellContent(
                series, numbers or None, summary, case_remarks, remarks, reference=reference
            )
        beside = interval_ends(reference, column, remarks) if column.beside and numbers else ()
        return CellContent(series, numbers, summary, case_remarks, remarks, None, reference, beside)

    def _remarks_on(self, index: int) -> list[Remark]:
        remarks = self._remarks.get(index)
        if remarks is None:
            series, context = self._series[index], self._context
            name = series.run, series.test, series.case.key
            summary, odd = self._summaries.get(index), self._odd[index]
            unlike, codes = context.unlike.get(name, ""), context.suspicions.get(name, ())
            warnings = context.warnings.get(name, ())
            remarks = list(remarks_on(series, warnings, summary, odd, unlike, codes))
            self._remarks[index] = remarks
        return remarks

    def _limit(self, column: Column, series: Series, remarks: list[Remark]) -> Limit | None:
        """Return the limit that the value is divided by, if any, and remark on what is odd."""
        if not column.relative_to:
            return None
        limit = self._theoretical.of(column.relative_to, series)
        if isinstance(limit, NoLimit):
            remarks.append(Remark(limit.reason))
            return None
        if limit.unit != series.unit:
            raise InputError(
                f"table {self._table!r}: {series.metric} is in {series.unit!r} and"
                f" {column.relative_to} in {limit.unit!r}, which have no ratio: name another"
                " resource in 'relative_to'"
            )
        higher = series.better != "lower"
        best = series.values.max() if higher else -series.values.min()
        if series.better and best > (limit.value if higher else -limit.value):
            remarks.append(Remark("some values are better than the theoretical one"))
        return limit


def _theoretical(limit: Limit | NoLimit | None) -> CellContent:
    if limit is None:
        return _NOTHING
    if isinstance(limit, NoLimit):
        return CellContent(remarks=[Remark(limit.reason)])
    return CellContent(numbers=(limit.value,), limit=limit)


def _numbers(
    statistic: str, series: Series, summary: Summary, limit: Limit | None, remarks: list[Remark]
) -> tuple[float, ...]:
    """Return a statistic in its base unit, and remark why there is none."""
    numbers = []
    for end in _ENDS if statistic == "interval" else (statistic,):
        value = value_of(summary, end)
        if value is None:
            reason = why_none(statistic)
            if is_published_mean(series):
                reason = why_unpublished(series, statistic)
            remarks += [Remark(reason)] if reason else []
            return ()
        relative = limit is not None and own_unit(statistic) is None
        numbers.append(value / limit.value if limit is not None and relative else value)
    return tuple(numbers)


def _mean_ends(
    interval: Interval | None, column: Column, limit: Limit | None, remarks: list[Remark]
) -> tuple[float, ...]:
    """Return both ends of a mean's interval, and remark why there are none."""
    if interval is None:
        remarks.append(
            Remark(f"too few values, or too far apart: no {interval_words(column.statistic)}")
        )
        return ()
    divisor = 1.0 if limit is None else limit.value
    return interval.low / divisor, interval.high / divisor


def _case(series: Series) -> tuple[int, str, str, int, int, int]:
    """Return a cell's run, test, case key and how many replications it has of which sort."""
    suspect = int(np.count_nonzero(series.suspect))
    return series.run, series.test, series.case.key, series.planned, series.failed, suspect


class CellMaker:
    """Makes the cells of one table of their contents; `printed` is as in RunContext."""

    def __init__(
        self,
        spec: TableSpec,
        columns: Sequence[Column],
        marks: Marks,
        printed: Mapping[tuple[int, str], float],
    ) -> None:
        self._missing = visible(spec.missing)
        self._marked_once = of_one_metric(spec, columns)
        self._marks = marks
        self._printed = printed
        self._scales: dict[tuple[str, str], Decimal | None] = {}

    def cell(
        self,
        column: Column,
        content: CellContent,
        authors_remarks: Sequence[Remark] = (),
        *,
        marked: bool = True,
    ) -> Cell:
        """Return the cell with this content, `marked` with what is remarkable about it.

        `authors_remarks` are those of the definition.
        """
        series, limit, case_remarks = content.series, content.limit, content.case_remarks
        own_remarks = [*content.remarks, *authors_remarks]
        remarks = [*case_remarks, *own_remarks] if case_remarks else own_remarks
        # Where a row is one case, its first cell has the marks of all of it.
        cell_remarks = own_remarks if self._marked_once and column.place else remarks
        # By position, which is twice as fast, as there may be a hundred thousand.
        return Cell(
            self._text(column, content),
            self._marks.of(cell_remarks) if marked else "",
            content.summary,
            *(_NO_CASE if series is None else _case(series)),
            "; ".join([remark.text for remark in remarks]),
            None if limit is None else limit.value,
            "" if limit is None else limit.source,
            content.value,
            content.reference,
            content.interval,
            0.95 if series is None else series.level,
            bool(content.beside),
        )

    def _text(self, column: Column, content: CellContent) -> str:
        numbers, beside = content.numbers, content.beside
        units = column.unit, column.base_unit
        if units not in self._scales:
            self._scales[units] = scale(*units)
        per_unit = self._scales[units]
        if numbers is None or per_unit is None:
            series = content.series
            statement = None if series is None else series.published
            return statement.absence or self._missing if statement is not None else self._missing
        if not numbers:
            return NOT_DEFINED
        printed = self._printed_decimals(column, content, float(per_unit))
        digits = _decimals(column, content, float(per_unit))
        if printed is not None:
            digits = min(digits, printed) if column.digits_given else printed
        text = _joined(format_number(number, per_unit, digits) for number in numbers)
        return f"{text} {_beside(column, beside, per_unit, digits)}" if beside else text

    def _printed_decimals(
        self, column: Column, content: CellContent, per_unit: float
    ) -> int | None:
        """Return with how many decimals the cell's number was printed; None of what is computed."""
        series = content.series
        computed = column.compared or column.relative_to or own_unit(column.statistic) is not None
        if computed or series is None or len(series.values) != 1:
            return None
        last_digit = self._printed.get((series.run, series.metric))
        return None if last_digit is None else decimals_of_step(last_digit / per_unit)


def _joined(numbers: Iterable[str]) -> str:
    texts = list(numbers)
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _decimals(column: Column, content: CellContent, per_unit: float) -> int:
    """Return how many decimals a cell's numbers have: what their interval lets them mean."""
    own = own_unit(column.statistic) is not None
    if column.theoretical or own or not column.by_interval:
        return column.digits
    low, high = (end / per_unit for end in _uncertainty(column, content))
    # Values that differ by rounding alone are equal.
    if not _ROUNDING * max(abs(low), abs(high)) < high - low < math.inf:
        return column.digits
    decimals = decimals_of_width(high - low) if column.compared else decimals_of_interval(low, high)
    return min(decimals, column.digits) if column.digits_given else decimals


def _uncertainty(column: Column, content: CellContent) -> tuple[float, float]:
    """Return the ends of the interval of what the cell shows, in its base unit; 0, 0 for none."""
    numbers, reference = content.numbers or (), content.reference
    if len(numbers) > 1:
        return numbers[0], numbers[-1]
    if column.beside == "interval" and content.beside:
        return content.beside[0], content.beside[-1]
    if column.compared:
        low, high = (None, None) if reference is None else (reference.low, reference.high)
        return (0.0, 0.0) if low is None or high is None else (low, high)
    printed = content.series is not None and content.series.published is not None
    if content.interval is None or printed:
        return 0.0, 0.0
    divisor = 1.0 if content.limit is None else content.limit.value
    return content.interval.low / divisor, content.interval.high / divisor


def _beside(column: Column, numbers: Sequence[float], per_unit: Decimal, digits: int) -> str:
    """Return the second statistic of a cell as it stands behind the first."""
    own = own_unit(column.beside)
    if own == "1":
        return f"({format_number(numbers[0], _PERCENT, 1)} %)"
    if own is not None:
        return f"({format_number(numbers[0], _ONE, 0)})"
    text = _joined(format_number(number, per_unit, digits) for number in numbers)
    if column.beside in ("stdev", "mean_absolute_deviation"):
        return f"± {text}"
    return text if len(numbers) > 1 else f"({text})"


def common_limit(
    spec: TableSpec, cell: CellSpec, theoretical: Theoretical, series: Sequence[Series]
) -> Limit | NoLimit | None:
    """Return the theoretical value of the cases in one place of the table, None where none is.

    InputError where they have several.
    """
    answers = list(dict.fromkeys(theoretical.of(cell.peak, entry) for entry in series))
    limits = [answer for answer in answers if isinstance(answer, Limit)]
    if len({limit.value for limit in limits}) > 1:
        values = " and ".join(in_best_unit(limit.value, limit.unit) for limit in limits)
        raise InputError(
            f"table {spec.name!r}: the cases of one row have different theoretical values of"
            f" {cell.peak} ({values}): give the cell with 'peak' a 'select' of its own, or add what"
            " they differ in to rows or columns"
        )
    return next(iter([*limits, *answers]), None)


def common_unit(spec: TableSpec, cell: CellSpec, units: Iterable[str]) -> str | None:
    """Return the unit that all `units` are, None if there is none; InputError for several."""
    distinct = list(dict.fromkeys(units))
    if len(distinct) > 1:
        owners, remedy = "engines", "one engine"
        if is_logged(cell.metric):
            owners, remedy = "counters", "those of one unit"
        raise InputError(
            f"table {spec.name!r}: {cell.peak or cell.metric} is in {distinct[0]!r} for some"
            f" {owners} and in {distinct[1]!r} for others: select {remedy}"
        )
    return next(iter(distinct), None)
