"""What the numbers of a report's tables are and what was left out of them, as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from railgauge.base.number import plural
from railgauge.report.definition.statistic import LEAST_FOR_INTERVAL
from railgauge.report.pages.contents import Passage
from railgauge.report.tables.axes import REPLICATION
from railgauge.report.tables.logged import axes_of
from railgauge.report.tables.table import Cell, Column, Table
from railgauge.stats.summary import Summary
from railgauge.store.records import StoredRun

_SENTENCES: dict[str, str] = {
    "median": "A median is the middle value, of an even number the mean of the two in the middle.",
    "arithmetic_mean": "An arithmetic mean is the sum of n values divided by n.",
    "harmonic_mean": "A harmonic mean is n divided by the sum of the reciprocals of n values, as"
    " suits rates.",
    "stdev": "Standard deviations are of samples (n − 1), around the arithmetic mean.",
    "mean_absolute_deviation": "A mean absolute deviation is the mean distance from the arithmetic"
    " mean.",
    "cv": "A coefficient of variation (CV) is the standard deviation divided by the arithmetic"
    " mean.",
    "quartiles": "Quartiles are linear between neighbours (Hyndman and Fan, definition 7).",
    "interval": "A 95 % interval of a median goes from one of the ordered values to another, those"
    " that hold the true median with 95 % or more if replications are independent; of fewer than"
    f" {LEAST_FOR_INTERVAL} values there is none.",
}
_KINDS = {
    "interval_low": "interval",
    "interval_high": "interval",
    "lower_quartile": "quartiles",
    "upper_quartile": "quartiles",
}
_ALL_COUNT = (
    "Failed replications have no value, and warm-ups are part of none. Outliers, values more than 3"
    " interquartile ranges beyond the quartiles, and suspect replications are marked; they are part"
    " of every number."
)


def table_numbers(tables: Sequence[Table], runs: Sequence[StoredRun]) -> Passage:
    """Return what the numbers in `tables`, over `runs`, are and what was left out."""
    paragraphs = [" ".join([*_statistics(tables), _ALL_COUNT])]
    if cases := " ".join(_case_sentences(tables, runs)):
        paragraphs.append(cases)
    return Passage("appendix.numbers", "Numbers", tuple(paragraphs))


def _statistics(tables: Sequence[Table]) -> Iterator[str]:
    statistics = {
        _KINDS.get(column.statistic, column.statistic)
        for table in tables
        for column in table.columns
    }
    if any(cell.summary and cell.summary.interval_low is not None for _, cell in _cells(tables)):
        # The sentences below a table have it.
        statistics |= {"interval", "median"}
    return (text for name, text in _SENTENCES.items() if name in statistics)


def _case_sentences(tables: Sequence[Table], runs: Sequence[StoredRun]) -> Iterator[str]:
    if not tables:
        return
    values = _values(tables)
    for run in runs:
        cases = {(test, key) for number, test, key, *_ in values if number == run.id}
        case_count = plural(len(run.cases), "case")
        yield f"The tables show {len(cases):,} of {case_count} of run {run.id}."
    summaries = list(chain.from_iterable(values.values()))
    outliers = sum(summary.outliers for summary in summaries)
    count = sum(summary.n for summary in summaries)
    if count > 1:
        outlier_words = "1 is an outlier" if outliers == 1 else f"{outliers or 'none'} are outliers"
        yield f"Of their {plural(count, 'value')} {outlier_words}."


def _values(tables: Sequence[Table]) -> dict[tuple[object, ...], list[Summary]]:
    """Return what the tables show, by run, test, case, metric and what stands in its braces.

    Cells of several columns may show the same values, as may tables of cases and of their
    replications.
    """
    values: dict[tuple[object, ...], dict[object, Summary]] = {}
    for table in tables:
        names = (*table.row_axes, *table.column_axes)
        for row in table.rows:
            for column, cell in zip(table.columns, row.cells, strict=True):
                if cell.summary is None:
                    continue
                axes = dict(zip(names, (*row.key, *column.key), strict=True))
                braced = (axes.get(name) for name in axes_of(column.metric))
                place = (cell.run, cell.test, cell.case_key, column.metric, *braced)
                values.setdefault(place, {})[axes.get(REPLICATION)] = cell.summary
    return {
        place: [summaries[None]] if None in summaries else list(summaries.values())
        for place, summaries in values.items()
    }


def _cells(tables: Sequence[Table]) -> Iterator[tuple[Column, Cell]]:
    for table in tables:
        for row in table.rows:
            yield from zip(table.columns, row.cells, strict=True)
