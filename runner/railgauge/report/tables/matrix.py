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
from railgauge.report.tables.axes import Axis
from railgauge.report.tables.statistic import value_of
from railgauge.stats import summarise

if TYPE_CHECKING:
    from railgauge.store.records import Series


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """`values` float64 (n, n) in base units, client by server, NaN where there is none.

    `asked` (n, n) tells for which pairs there is a case. `places` are each series' row and column.
    """

    hosts: tuple[str, ...]
    values: NDArray[np.float64]
    asked: NDArray[np.bool_]
    places: NDArray[np.int64]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Return (n, n): which pairs have a case but no value."""
        return self.asked & np.isnan(self.values)


def make_matrix(part: str, shown: Sequence[Series], statistic: str, axis: Axis) -> Matrix:
    """Return the `statistic` of each pair; hosts stand in the order of `axis`.

    InputError when `part` ("figure 'x'") would show two cases of one pair.
    """
    names: dict[str, None] = {}
    for one in shown:
        names[one.case.client] = None
        names[one.case.server or ""] = None
    hosts = [str(name) for name in axis.sorted(names)]
    place = {name: i for i, name in enumerate(hosts)}
    values = np.full((len(hosts), len(hosts)), np.nan)
    asked = np.zeros(values.shape, np.bool_)
    places = np.empty((len(shown), 2), np.int64)
    for i, one in enumerate(shown):
        row, column = place[one.case.client], place[one.case.server or ""]
        if asked[row, column]:
            raise _two_cases(part, shown, places[:i], (row, column), one)
        asked[row, column], places[i] = True, (row, column)
        values[row, column] = _value(one.values, statistic)
    return Matrix(tuple(hosts), values, asked, places)


def _value(values: NDArray[np.float64], statistic: str) -> float:
    if not len(values):
        return np.nan
    if len(values) == 1 and statistic == "median":
        return float(values[0])
    found = value_of(summarise(values), statistic)
    return np.nan if found is None else found


def _two_cases(
    part: str,
    shown: Sequence[Series],
    places: NDArray[np.int64],
    place: tuple[int, int],
    second: Series,
) -> InputError:
    first = shown[int(np.flatnonzero((places == place).all(axis=1))[0])]
    differ = [
        name
        for name, one, other in (
            ("run", first.run, second.run),
            ("test", first.test, second.test),
            ("engine", first.case.engine, second.case.engine),
            ("link", first.case.link, second.case.link),
        )
        if one != other
    ] + list(varying([first.case, second.case]))
    pair = f"{visible(second.case.client)} to {visible(second.case.server or '')}"
    return InputError(
        f"{part}: two cases measure {pair}, which differ in {', '.join(map(visible, differ))}:"
        " narrow 'select', name what differs in 'each', or report one run at a time"
    )
