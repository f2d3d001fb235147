"""In which order a table's rows and columns stand, and what heads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TypeAlias

from railgauge.base.characters import visible
from railgauge.report.definition.model import TableSpec
from railgauge.report.tables import notes
from railgauge.report.tables.authors_notes import AuthorsNotes
from railgauge.report.tables.axes import Axis, AxisValue
from railgauge.report.tables.statistic import own_unit
from railgauge.report.tables.table import Column, Heading, RowLabel

Key: TypeAlias = tuple[AxisValue, ...]


def ordered(keys: Sequence[Key], axes: Sequence[Axis]) -> list[Key]:
    """Return the distinct `keys` in the order of their axes."""
    distinct = list(dict.fromkeys(keys))
    places = [
        {value: place for place, value in enumerate(axis.sorted(key[i] for key in distinct))}
        for i, axis in enumerate(axes)
    ]
    return sorted(
        distinct, key=lambda key: [place[value] for place, value in zip(places, key, strict=True)]
    )


def by_cell(
    spec: TableSpec, keys: Sequence[Key], value: Callable[[Key], float | None]
) -> list[Key]:
    """Return the rows by their `value`, those of a group together, those without one last.

    Groups stand as they stood, and so do rows of equal value.
    """
    level = grouped(spec)
    descending = spec.sort is not None and spec.sort.descending
    arranged: list[Key] = []
    for _, group in groupby(keys, key=lambda key: key[:level]):
        those = [(value(key), key) for key in group]
        known = [(number, key) for number, key in those if number is not None]
        known.sort(key=lambda one: -one[0] if descending else one[0])
        arranged += [key for _, key in known]
        arranged += [key for number, key in those if number is None]
    return arranged


def grouped(spec: TableSpec) -> int:
    """Return by how many of the row axes the rows stand in groups."""
    if spec.group:
        return spec.rows.index(spec.group) + 1
    # Rows by size have only their neighbours in common.
    return 0 if spec.sort is not None else 1


def row_labels(
    spec: TableSpec, keys: Sequence[Key], axes: Sequence[Axis], said: AuthorsNotes
) -> list[tuple[RowLabel, ...]]:
    """Return the labels of each row: one that stands for several rows has their number.

    Rows that are sorted by a cell share those of their group only: others meet by chance.
    """
    shared = len(axes) if spec.sort is None else grouped(spec)
    levels: list[list[RowLabel]] = []
    for level, axis in enumerate(axes):
        labels: list[RowLabel] = []
        for prefix, same in groupby(key[: level + 1] for key in keys):
            span = len(list(same))
            label = RowLabel(axis.text(prefix[-1]), 1, said.of_label(prefix, level))
            if level < shared:
                labels += [label._replace(span=span), *[RowLabel(label.text, 0)] * (span - 1)]
            else:
                labels += [label] * span
        levels.append(labels)
    return list(zip(*levels, strict=True))


def header(
    spec: TableSpec, axes: Mapping[str, Axis], columns: Sequence[Column], said: AuthorsNotes
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
                    mark=said.of_heading(prefix, level),
                )
                for prefix, same in groupby(one.key[: level + 1] for one in columns)
            )
        )
    width = len(spec.cells)
    marks = [said.of_cells_heading(one.key, one.place) for one in columns]
    if notes.of_one_metric(spec, columns):
        unit = next(one.unit for one in columns if own_unit(one.statistic) is None)
        metric = notes.words(spec.cells[0].metric)
        shown = "" if unit == "1" else visible(unit)
        named = Heading(metric[:1].upper() + metric[1:], shown, width)
        lines += [(named,), _marked(map(notes.statistic_heading, columns), marks)]
    elif width > 1 or not spec.columns:
        headings = (notes.heading(spec.cells[one.place], one.unit) for one in columns)
        lines.append(_marked(headings, marks))
    return tuple(lines)


def _marked(headings: Iterable[Heading], marks: Sequence[str]) -> tuple[Heading, ...]:
    return tuple(replace(one, mark=mark) for one, mark in zip(headings, marks, strict=True))
