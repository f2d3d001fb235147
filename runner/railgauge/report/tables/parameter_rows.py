"""The word `parameters` in a table's rows: those parameters that distinguish its cases."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import TYPE_CHECKING

from railgauge.report.tables.axes import Placed, axis_value

if TYPE_CHECKING:
    from railgauge.report.definition.definition_model import TableSpec

PARAMETERS = "parameters"


def with_parameters(spec: TableSpec, cells: Collection[Placed]) -> TableSpec:
    """Return `spec` with parameters in place of the word: the fewest that its axes lack.

    `cells` are the table's contents. What the other axes distinguish needs no parameter.
    """
    if PARAMETERS not in spec.rows:
        return spec
    index = spec.rows.index(PARAMETERS)
    before, after = spec.rows[:index], spec.rows[index + 1 :]
    names = [*before, *after, *spec.columns]
    added: list[str] = []
    places = _numbered(tuple(axis_value(cell, name) for name in names) for cell in cells)
    for name in dict.fromkeys(name for cell in cells for name in cell.case.parameters):
        finer = _numbered(
            (place, axis_value(cell, name)) for place, cell in zip(places, cells, strict=True)
        )
        if max(finer) > max(places):
            added.append(name)
            places = finer
    return spec.model_copy(update={"rows": [*before, *added, *after]})


def _numbered(places: Iterable[Hashable]) -> list[int]:
    """Return for each place which of the different ones it is, from 0."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(place, len(numbers)) for place in places]
