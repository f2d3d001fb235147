"""The word `parameters` in a table's rows: those parameters that tell its cases apart."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from railgauge.report.axes import Placed, axis_value
from railgauge.report.model import TableSpec

PARAMETERS = "parameters"


def spelled_out(spec: TableSpec, shown: Collection[Placed]) -> TableSpec:
    """Return `spec` with parameters in place of the word: the fewest that its axes lack.

    `shown` is what stands in the table. What the other axes tell apart needs no parameter.
    """
    if PARAMETERS not in spec.rows:
        return spec
    at = spec.rows.index(PARAMETERS)
    before, behind = spec.rows[:at], spec.rows[at + 1 :]
    names = [*before, *behind, *spec.columns]
    varied: list[str] = []
    places = _places(shown, names)
    for name in dict.fromkeys(name for one in shown for name in one.case.parameters):
        more = _places(shown, [*names, *varied, name])
        if more > places:
            varied.append(name)
            places = more
    return spec.model_copy(update={"rows": [*before, *varied, *behind]})


def _places(shown: Collection[Placed], names: Sequence[str]) -> int:
    return len({tuple(axis_value(one, name) for name in names) for one in shown})
