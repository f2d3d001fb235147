"""The word `parameters` in a table's rows: those parameters that distinguish its cases."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from railgauge.report.definition.definition_model import TableSpec
from railgauge.report.tables.axes import Placed, axis_value

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
    places = _places(cells, names)
    for name in dict.fromkeys(name for cell in cells for name in cell.case.parameters):
        count = _places(cells, [*names, *added, name])
        if count > places:
            added.append(name)
            places = count
    return spec.model_copy(update={"rows": [*before, *added, *after]})


def _places(cells: Collection[Placed], names: Sequence[str]) -> int:
    return len({tuple(axis_value(cell, name) for name in names) for cell in cells})
