"""Links between hosts as a square of values: clients by servers, in one order of hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.plan.cases import varying
from railgauge.report.definition.statistic import value_of
from railgauge.report.tables.axes import Axis, axis_value
from railgauge.stats.summary import summarise

if TYPE_CHECKING:
    from railgauge.store.records import Series


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """`values` float64 (n, n) in base units, client by server, NaN where there is none.

    `planned` (n, n) is true where a pair has a case. `places` are each series' row and column.
    """

    hosts: tuple[str, ...]
    values: NDArray[np.float64]
    planned: NDArray[np.bool_]
    places: NDArray[np.int64]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Return (n, n): which pairs have a case but no value."""
        return self.planned & np.isnan(self.values)


def make_matrix(part: str, series: Sequence[Series], statistic: str, axis: Axis) -> Matrix:
    """Return the `statistic` of each pair; hosts stand in the order of `axis`.

    InputError when `part` ("figure 'x'") would show two cases of one pair.
    """
    names: dict[str, None] = {}
    for entry in series:
        names[entry.case.client] = None
        names[entry.case.server or ""] = None
    hosts = [str(name) for name in axis.sorted(names)]
    place = {name: i for i, name in enumerate(hosts)}
    values = np.full((len(hosts), len(hosts)), np.nan)
    planned = np.zeros(values.shape, np.bool_)
    places = np.empty((len(series), 2), np.int64)
    for i, entry in enumerate(series):
        row, column = place[entry.case.client], place[entry.case.server or ""]
        if planned[row, column]:
            first = int(np.flatnonzero((places[:i] == (row, column)).all(axis=1))[0])
            raise _two_cases(part, series[first], entry)
        planned[row, column], places[i] = True, (row, column)
        values[row, column] = _value(entry, statistic)
    return Matrix(tuple(hosts), values, planned, places)


def _value(series: Series, statistic: str) -> float:
    values = series.values
    if not len(values):
        return np.nan
    if len(values) == 1 and statistic == "median":
        return float(values[0])
    value = value_of(summarise(values, series.level), statistic)
    return np.nan if value is None else value


def _two_cases(part: str, first: Series, second: Series) -> InputError:
    differ = [
        name
        for name in ("run", "test", "engine", "link")
        if axis_value(first, name) != axis_value(second, name)
    ] + list(varying([first.case, second.case]))
    pair = f"{visible(second.case.client)} to {visible(second.case.server or '')}"
    return InputError(
        f"{part}: two cases measure {pair}, which differ in {', '.join(map(visible, differ))}:"
        " narrow 'select', name what differs in 'each', or report one run at a time"
    )
