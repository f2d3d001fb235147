"""How a definition names one of a table's cells: by its label or, without one, by its metric."""

from __future__ import annotations

from collections.abc import Sequence

from railgauge.report.definition.definition_model import CellSpec


def places_of(cells: Sequence[CellSpec], name: str) -> list[int]:
    """Return the places of all cells that `name` may mean."""
    return [i for i, cell in enumerate(cells) if name_of(cell) == name]


def name_of(cell: CellSpec) -> str:
    """Return what names the cell."""
    return cell.label or cell.metric or cell.peak
