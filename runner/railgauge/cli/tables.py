"""A run's tables as the terminal shows them when nobody defined any."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from railgauge.base.number import plural
from railgauge.plan.catalogue import Catalogue
from railgauge.report.definition.statistic import value_of
from railgauge.report.document.render import render_text
from railgauge.report.tables.default import default_series, default_spec
from railgauge.report.tables.pivot import build
from railgauge.report.tables.run_context import read_context
from railgauge.report.tables.table import Cell, Heading, Row, Table
from railgauge.store import Store

# A hundred hosts' matrix has 9,900 rows, which nobody reads in a terminal.
_MOST_ROWS = 200
_WIDTH = 80


def default_text(
    store: Store, runs: Sequence[int], catalogue: Catalogue, *, statistics: bool = False
) -> str:
    """Return one table a test with its headline metrics; empty if nothing was measured.

    With `statistics` a table of each of them, too, with all that sums it up. Of a table too long
    for a terminal it has a line a metric, and the command that writes all.
    """
    series = default_series(store, runs)
    if not series:
        return ""
    context = read_context(store, map(store.run, runs))
    # In short a metric's own table would say no more than the test's.
    spec = default_spec(series, statistics=_MOST_ROWS if statistics else 0)
    tables = (
        build(table, series, catalogue=catalogue, context=context, level=spec.notes)
        for table in spec.tables
    )
    return "\n".join(
        render_text(table) if len(table.rows) <= _MOST_ROWS else _in_short(table, runs)
        for table in tables
    )


def _in_short(table: Table, runs: Sequence[int]) -> str:
    lines = [f"{table.title}: {plural(len(table.rows), 'row')}"]
    for index, heading in enumerate(table.header[-1]):
        statistic = table.columns[index].statistic
        values = [
            (value, row.cells[index], row)
            for row in table.rows
            if (value := _value(row.cells[index], statistic)) is not None
        ]
        lines.append(f"  {_title(heading)}: {_extremes(values, len(table.rows))}")
    lines += [f"!! {alarm}" for alarm in table.alarms]
    lines += [line for note in table.notes for line in textwrap.wrap(note, _WIDTH)]
    marked = sum(any(cell.mark for cell in row.cells) for row in table.rows)
    if marked:
        lines.append(f"Rows with footnotes: {marked:,}.")
    named = " ".join(map(str, runs))
    lines.append(f"All rows: railgauge report {named} --out DIR")
    return "".join(f"{line}\n" for line in lines)


def _title(heading: Heading) -> str:
    return f"{heading.text} ({heading.unit})" if heading.unit else heading.text


def _value(cell: Cell, statistic: str) -> float | None:
    return None if cell.summary is None else value_of(cell.summary, statistic)


def _extremes(values: Sequence[tuple[float, Cell, Row]], rows: int) -> str:
    """Return the middle of the cells with a value, and the two ends with what they are of."""
    if not values:
        return "no value"
    ordered = sorted(values, key=lambda entry: entry[0])
    extremes = ordered[0], ordered[-1]
    ends = [f"{cell.text} ({' '.join(_labels(row))})" for _, cell, row in extremes]
    text = f"median {ordered[(len(ordered) - 1) // 2][1].text}, from {ends[0]} to {ends[1]}"
    return text if len(values) == rows else f"{text}; {rows - len(values):,} without a value"


def _labels(row: Row) -> Iterator[str]:
    return (label.text for label in row.labels)
