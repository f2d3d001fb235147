"""The order of a table's rows, their labels, and the headings above its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from railgauge.base.characters import capitalised, visible
from railgauge.report.definition.statistic import own_unit
from railgauge.report.tables import notes
from railgauge.report.tables.authors_notes import AuthorsNotes
from railgauge.report.tables.axes import Axis, Key
from railgauge.report.tables.table import Column, Heading, RowLabel

if TYPE_CHECKING:
    from railgauge.report.definition.definition_model import TableSpec


def sorted_by_value(
    spec: TableSpec, keys: Sequence[Key], value_of: Callable[[Key], float | None]
) -> list[Key]:
    """Return the rows by their value, those of a group together, those without one last.

    Groups keep their order, and so do rows of equal value.
    """
    level = group_level(spec)
    descending = spec.sort is not None and spec.sort.descending
    arranged: list[Key] = []
    for _, group in groupby(keys, key=lambda key: key[:level]):
        rows = [(value_of(key), key) for key in group]
        valued = [(value, key) for value, key in rows if value is not None]
        valued.sort(key=lambda row: -row[0] if descending else row[0])
        arranged += [key for _, key in valued]
        arranged += [key for value, key in rows if value is None]
    return arranged


def group_level(spec: TableSpec) -> int:
    """Return by how many of the row axes the rows are grouped."""
    if spec.group:
        return spec.rows.index(spec.group) + 1
    # Rows by size have only their neighbours in common.
    return 0 if spec.sort is not None else 1


def row_labels(
    spec: TableSpec, keys: Sequence[Key], axes: Sequence[Axis], authors_notes: AuthorsNotes
) -> list[tuple[RowLabel, ...]]:
    """Return the labels of each row: one that stands for several rows has their number.

    Rows that are sorted by a cell share those of their group only: others meet by chance.
    """
    shared = len(axes) if spec.sort is None else group_level(spec)
    levels: list[list[RowLabel]] = []
    for level, axis in enumerate(axes):
        labels: list[RowLabel] = []
        for prefix, same in groupby(key[: level + 1] for key in keys):
            span = len(list(same))
            label = RowLabel(axis.text(prefix[-1]), 1, authors_notes.of_label(prefix, level))
            if level < shared:
                labels += [label._replace(span=span), *[RowLabel(label.text, 0)] * (span - 1)]
            else:
                labels += [label] * span
        levels.append(labels)
    return list(zip(*levels, strict=True))


def header(
    spec: TableSpec,
    axes: Mapping[str, Axis],
    columns: Sequence[Column],
    authors_notes: AuthorsNotes,
) -> tuple[tuple[Heading, ...], ...]:
    """Return the lines of headings above the columns."""
    lines: list[tuple[Heading, ...]] = []
    if spec.columns:
        title = " / ".join(axes[name].title for name in spec.columns)
        lines.append((Heading(title, span=len(columns)),))
    for level, name in enumerate(spec.columns):
        lines.append(
            tuple(
                Heading(
                    axes[name].text(prefix[-1]),
                    span=len(list(same)),
                    mark=authors_notes.of_heading(prefix, level),
                )
                for prefix, same in groupby(column.key[: level + 1] for column in columns)
            )
        )
    width = len(spec.cells)
    marks = [authors_notes.of_cells_heading(column.key, column.place) for column in columns]
    if notes.of_one_metric(spec, columns):
        unit = next(column.unit for column in columns if own_unit(column.statistic) is None)
        unit = "" if unit == "1" else visible(unit)
        metric = capitalised(notes.words(spec.cells[0].metric))
        lines += [
            (Heading(metric, unit, width),),
            _marked(map(notes.statistic_heading, columns), marks),
        ]
    elif width > 1 or not spec.columns:
        headings = (notes.heading(spec.cells[column.place], column.unit) for column in columns)
        lines.append(_marked(headings, marks))
    return tuple(lines)


def _marked(headings: Iterable[Heading], marks: Sequence[str]) -> tuple[Heading, ...]:
    return tuple(replace(heading, mark=mark) for heading, mark in zip(headings, marks, strict=True))
