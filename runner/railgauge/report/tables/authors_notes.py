"""The footnotes that a definition's author adds to labels, headings and cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.report.definition.cell_names import place_of
from railgauge.report.tables.axes import Axis, AxisValue
from railgauge.report.tables.marks import Marks, Remark

if TYPE_CHECKING:
    from railgauge.report.definition.definition_model import TableSpec


@dataclass(frozen=True, slots=True)
class _Note:
    """A footnote: the values of row and of column axes, by place, and the cell, that it is of."""

    rows: Mapping[int, frozenset[AxisValue]]
    columns: Mapping[int, frozenset[AxisValue]]
    cell: int | None
    remark: Remark


class AuthorsNotes:
    """Finds the author's footnotes of each label, heading and cell.

    One that names only rows marks their labels, one that names only columns, or a cell, their
    headings, and one that names both each cell where they meet.
    """

    def __init__(self, spec: TableSpec, axes: Mapping[str, Axis], marks: Marks) -> None:
        self._marks = marks
        # Where a single cell has no heading of its own, it is the table's.
        headed = len(spec.cells) > 1 or not spec.columns
        self._notes = []
        for note in spec.footnotes:
            values = {name: axes[name].accepts([value]) for name, value in note.where.items()}
            self._notes.append(
                _Note(
                    {i: values[name] for i, name in enumerate(spec.rows) if name in values},
                    {i: values[name] for i, name in enumerate(spec.columns) if name in values},
                    place_of(spec, note.cell, "a footnote's 'cell'")
                    if note.cell and headed
                    else None,
                    Remark(visible(note.text.strip().removesuffix(".")), wrote=True),
                )
            )

    def of_label(self, key: Sequence[AxisValue], level: int) -> str:
        """Return the marks of the label of row `key` on that axis."""
        return self._marks.of(
            [
                note.remark
                for note in self._notes
                if _ends_at(note.rows, level) and not note.columns and note.cell is None
                if _meets(note.rows, key)
            ]
        )

    def of_heading(self, key: Sequence[AxisValue], level: int) -> str:
        """Return the marks of the heading of the columns `key` on that axis."""
        return self._marks.of(
            [
                note.remark
                for note in self._notes
                if _ends_at(note.columns, level) and not note.rows and note.cell is None
                if _meets(note.columns, key)
            ]
        )

    def of_cells_heading(self, key: Sequence[AxisValue], place: int) -> str:
        """Return the marks of the heading of the cell at `place` of the definition."""
        return self._marks.of(
            [
                note.remark
                for note in self._notes
                if note.cell == place and not note.rows and _meets(note.columns, key)
            ]
        )

    def of_cell(
        self, row: Sequence[AxisValue], column: Sequence[AxisValue], place: int
    ) -> Sequence[Remark]:
        """Return the remarks of a single cell."""
        return [
            note.remark
            for note in self._notes
            if note.rows and (note.columns or note.cell is not None)
            if note.cell in (None, place)
            if _meets(note.rows, row) and _meets(note.columns, column)
        ]


def _ends_at(accepted: Mapping[int, frozenset[AxisValue]], level: int) -> bool:
    return bool(accepted) and max(accepted) == level


def _meets(accepted: Mapping[int, frozenset[AxisValue]], key: Sequence[AxisValue]) -> bool:
    return all(key[i] in values for i, values in accepted.items())
