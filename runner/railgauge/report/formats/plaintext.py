"""Lays a table out in columns of a terminal; templates/text puts the lines together."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from railgauge.base.characters import centre, left, right, width
from railgauge.report.tables.table import Cell, Heading, Row, RowLabel, Table

_GAP = "  "
# Notes are wrapped to the table's width, but no narrower than this.
_NARROWEST = 80


class TextLayout:
    """A table's lines: `header`, `groups` of rows that share their first label, a `rule` and so on.

    `spaced` says whether an empty line between groups helps the eye.
    """

    def __init__(self, table: Table) -> None:
        places = range(len(table.columns))
        marks = [max((len(row.cells[i].mark) for row in table.rows), default=0) for i in places]
        cells = [
            [_cell(cell, mark) for cell, mark in zip(row.cells, marks, strict=True)]
            for row in table.rows
        ]
        self._stub = [
            max(width(text) for text in (title, *(_label(row.labels[i]) for row in table.rows)))
            for i, title in enumerate(table.stub)
        ]
        self._columns = [max((width(row[i]) for row in cells), default=0) for i in places]
        for line in reversed(table.header):
            self._widen(line)
        header = [self._heading(line) for line in table.header]
        titles = _GAP.join(map(left, table.stub, self._stub))
        blank = " " * width(titles)
        # The row axes' titles stand on the last line, just above what they name.
        starts = [blank] * (len(header) - 1) + [titles]
        self.header = [
            (start + _GAP + line).rstrip() for start, line in zip(starts, header, strict=True)
        ]
        self.rule = "─" * (width(blank) + len(_GAP) + self._width(0, len(self._columns)))
        lines = iter(cells)
        self.groups = [[self._row(row, next(lines)) for row in group] for group in table.groups]
        line_width = max(len(self.rule), _NARROWEST)
        self.alarms = [
            line
            for alarm in table.alarms
            for line in textwrap.wrap(f"!! {alarm}", line_width, subsequent_indent="   ")
        ]
        self.notes = [line for note in table.notes for line in textwrap.wrap(note, line_width)]
        self.footnotes = [
            line
            for note in table.footnotes
            for line in textwrap.wrap(
                f"{note.mark}) {note.text}", line_width, subsequent_indent="   "
            )
        ]
        self.spaced = any(len(group) > 1 for group in self.groups)

    def _row(self, row: Row, texts: Sequence[str]) -> str:
        labels = [_label(label) if label.span else "" for label in row.labels]
        return _GAP.join(
            [*map(left, labels, self._stub), *map(right, texts, self._columns)]
        ).rstrip()

    def _width(self, first: int, span: int) -> int:
        return sum(self._columns[first : first + span]) + len(_GAP) * (span - 1)

    def _widen(self, line: Sequence[Heading]) -> None:
        """Make each heading's columns wide enough for it, sharing what is missing among them."""
        first = 0
        for heading in line:
            missing = width(_text(heading)) - self._width(first, heading.span)
            for i in range(max(missing, 0)):
                self._columns[first + i % heading.span] += 1
            first += heading.span

    def _heading(self, line: Sequence[Heading]) -> str:
        parts = []
        first = 0
        for heading in line:
            column_width = self._width(first, heading.span)
            text = _text(heading)
            parts.append(
                left(centre(text, column_width), column_width)
                if heading.span > 1
                else right(text, column_width)
            )
            first += heading.span
        return _GAP.join(parts)


def _text(heading: Heading) -> str:
    text = f"{heading.text} ({heading.unit})" if heading.unit else heading.text
    return f"{text} {heading.mark})" if heading.mark else text


def _label(label: RowLabel) -> str:
    return f"{label.text} {label.mark})" if label.mark else label.text


def _cell(cell: Cell, mark: int) -> str:
    """Return the cell and its mark, padded so that marked and unmarked digits align."""
    if not mark:
        return cell.text
    return cell.text + left(f" {cell.mark})" if cell.mark else "", mark + 2)
