"""A table as people see it: what is the same in all rows stands once, above, what is empty nowhere.

A CSV file has the whole table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, islice
from typing import TypeVar

from railgauge.report.tables.table import Heading, Row, Table

T = TypeVar("T")


def display_form(table: Table) -> Table:
    """Return `table` without what is valueless, and row axes of a single value as `constants`.

    What no row has is none of them.

    Without a column that has a value there are no rows: the notes say why. A constant with a
    footnote stays in the rows, and so does the last axis.
    """
    if table.rows and len(table.valueless) == len(table.columns):
        table = replace(table, rows=())
    if table.valueless_rows:
        table = replace(table, rows=_remaining(table), valueless_rows=())
    constant = _constant_axes(table)
    axes = [i for i in range(len(table.stub)) if i not in constant]
    places = [i for i in range(len(table.columns)) if i not in table.valueless]
    if not constant and not table.valueless:
        return table
    return replace(
        table,
        stub=_at(table.stub, axes),
        header=tuple(tuple(_narrowed(line, set(places))) for line in table.header),
        row_axes=_at(table.row_axes, axes),
        columns=_at(table.columns, places),
        rows=tuple(
            Row(_at(row.labels, axes), _at(row.cells, places), _at(row.key, axes))
            for row in table.rows
        ),
        grouped=max(sum(i < table.grouped for i in axes), min(table.grouped, 1)),
        constants=tuple(
            f"{table.stub[i]}: {table.rows[0].labels[i].text}"
            for i in constant
            if table.rows[0].key[i] is not None
        ),
        valueless=(),
    )


def _remaining(table: Table) -> tuple[Row, ...]:
    """Return the rows with a value: a label stands in the first of those that share it."""
    rows, valueless = table.rows, set(table.valueless_rows)
    places = [i for i in range(len(rows)) if i not in valueless]
    levels = []
    for level in range(len(table.stub)):
        # The row in which each one's label stands.
        spans = [row.labels[level].span for row in rows]
        where = list(accumulate((i if span else 0 for i, span in enumerate(spans)), max))
        shared = Counter(where[i] for i in places)
        labels = (rows[where[i]].labels[level] for i in places)
        levels.append(
            [
                label._replace(span=shared.pop(where[i], 0))
                for i, label in zip(places, labels, strict=True)
            ]
        )
    return tuple(
        rows[i]._replace(labels=labels)
        for i, labels in zip(places, zip(*levels, strict=True), strict=True)
    )


def _constant_axes(table: Table) -> list[int]:
    # A list's rows have no keys: what they are about stays beside it.
    if len(table.rows) < 2 or not table.rows[0].key:
        return []
    constant = [
        i
        for i in range(len(table.stub))
        if len({row.labels[i].text for row in table.rows}) == 1
        and not any(row.labels[i].mark for row in table.rows)
    ]
    return constant if len(constant) < len(table.stub) else constant[:-1]


def _narrowed(line: Sequence[Heading], places: set[int]) -> Iterator[Heading]:
    """Yield the headings over the columns at `places`, as wide as these are."""
    columns = iter(range(sum(heading.span for heading in line)))
    for heading in line:
        span = sum(i in places for i in islice(columns, heading.span))
        if span:
            yield replace(heading, span=span)


def _at(values: tuple[T, ...], places: Sequence[int]) -> tuple[T, ...]:
    return tuple(values[i] for i in places) if values else ()
