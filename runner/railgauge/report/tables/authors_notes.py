"""The footnotes that a definition's author puts to labels, headings and cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from railgauge.base.characters import visible
from railgauge.report.definition.cell_names import places_of
from railgauge.report.definition.model import TableSpec
from railgauge.report.tables.axes import Axis, AxisValue
from railgauge.report.tables.marks import Marks, Remark


@dataclass(frozen=True, slots=True)
class _Note:
    """A footnote: what it wants of row and of column axes, by place, and of which cell."""

    rows: Mapping[int, frozenset[AxisValue]]
    columns: Mapping[int, frozenset[AxisValue]]
    cell: int | None
    remark: Remark


class AuthorsNotes:
    """Says which of the author's footnotes stand where.

    One that names only rows stands at their labels, one that names only columns, or a cell, at
    their headings, and one that names both at each cell where they meet.
    """

    def __init__(self, spec: TableSpec, axes: Mapping[str, Axis], marks: Marks) -> None:
        self._marks = marks
        # Where a single cell has no heading of its own, it is the table's.
        headed = len(spec.cells) > 1 or not spec.columns
        self._notes = []
        for one in spec.footnotes:
            wanted = {name: axes[name].accepts([value]) for name, value in one.where.items()}
            self._notes.append(
                _Note(
                    {i: wanted[name] for i, name in enumerate(spec.rows) if name in wanted},
                    {i: wanted[name] for i, name in enumerate(spec.columns) if name in wanted},
                    places_of(spec.cells, one.cell)[0] if one.cell and headed else None,
                    Remark(visible(one.text.strip().removesuffix("."))),
                )
            )

    def of_label(self, key: Sequence[AxisValue], level: int) -> str:
        """Return the marks of the label of row `key` on that axis."""
        return self._marks.of(
            [
                one.remark
                for one in self._notes
                if _ends_at(one.rows, level) and not one.columns and one.cell is None
                if _meets(one.rows, key)
            ]
        )

    def of_heading(self, key: Sequence[AxisValue], level: int) -> str:
        """Return the marks of the heading of the columns `key` on that axis."""
        return self._marks.of(
            [
                one.remark
                for one in self._notes
                if _ends_at(one.columns, level) and not one.rows and one.cell is None
                if _meets(one.columns, key)
            ]
        )

    def of_cells_heading(self, key: Sequence[AxisValue], place: int) -> str:
        """Return the marks of the heading of the cell at `place` of the definition."""
        return self._marks.of(
            [
                one.remark
                for one in self._notes
                if one.cell == place and not one.rows and _meets(one.columns, key)
            ]
        )

    def of_cell(
        self, row: Sequence[AxisValue], column: Sequence[AxisValue], place: int
    ) -> Sequence[Remark]:
        """Return what is said of a single cell."""
        return [
            one.remark
            for one in self._notes
            if one.rows and (one.columns or one.cell is not None)
            if one.cell in (None, place) and _meets(one.rows, row) and _meets(one.columns, column)
        ]


def _ends_at(wanted: Mapping[int, frozenset[AxisValue]], level: int) -> bool:
    return bool(wanted) and max(wanted) == level


def _meets(wanted: Mapping[int, frozenset[AxisValue]], key: Sequence[AxisValue]) -> bool:
    return all(key[i] in values for i, values in wanted.items())
