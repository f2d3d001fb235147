"""How a definition names one of a table's cells: by its label or, without one, by its metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from railgauge.base.errors import InputError

if TYPE_CHECKING:
    from railgauge.report.definition.definition_model import CellSpec, TableSpec


def places_of(cells: Sequence[CellSpec], name: str) -> list[int]:
    """Return the places of all cells that `name` may mean."""
    return [i for i, cell in enumerate(cells) if name_of(cell) == name]


def place_of(table: TableSpec, name: str, where: str) -> int:
    """Return the place of the cell that `name` means; InputError where it isn't one cell.

    A definition that was read is checked already; `where` says where in it the name stands.
    """
    places = places_of(table.cells, name)
    if len(places) == 1:
        return places[0]
    if places:
        message = f"{len(places)} cells are called {name!r}: give each a 'label' of its own"
    else:
        names = ", ".join(dict.fromkeys(map(name_of, table.cells)))
        message = f"no cell is called {name!r}: name one that there is, {names}"
    raise InputError(f"table {table.name!r}, {where}: {message}")


def name_of(cell: CellSpec) -> str:
    """Return what names the cell."""
    return cell.label or cell.metric or cell.peak
