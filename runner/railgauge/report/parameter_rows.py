"""The word `parameters` in a table's rows: those parameters that tell its cases apart."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from railgauge.report.definition.model import TableSpec
from railgauge.report.tables.axes import Placed, axis_value

PARAMETERS = "parameters"


def with_parameters(spec: TableSpec, shown: Collection[Placed]) -> TableSpec:
    """Return `spec` with parameters in place of the word: the fewest that its axes lack.

    `shown` is what stands in the table. What the other axes tell apart needs no parameter.
    """
    if PARAMETERS not in spec.rows:
        return spec
    at = spec.rows.index(PARAMETERS)
    before, behind = spec.rows[:at], spec.rows[at + 1 :]
    names = [*before, *behind, *spec.columns]
    added: list[str] = []
    places = _places(shown, names)
    for name in dict.fromkeys(name for item in shown for name in item.case.parameters):
        more = _places(shown, [*names, *added, name])
        if more > places:
            added.append(name)
            places = more
    return spec.model_copy(update={"rows": [*before, *added, *behind]})


def _places(shown: Collection[Placed], names: Sequence[str]) -> int:
    return len({tuple(axis_value(item, name) for name in names) for item in shown})
