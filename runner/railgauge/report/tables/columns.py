"""What a column of a table shows, and in which unit."""

from __future__ import annotations

from railgauge.base.errors import InputError
from railgauge.base.number import fitting_units, scale
from railgauge.report.definition.model import CellSpec, TableSpec
from railgauge.report.tables.axes import AxisValue
from railgauge.report.tables.notes import heading
from railgauge.report.tables.statistic import own_unit, resolved
from railgauge.report.tables.table import THEORETICAL, Column


def make_column(
    spec: TableSpec,
    key: tuple[AxisValue, ...],
    place: int,
    stored: str | None,
    against: str = "",
) -> Column:
    """Return the column of the cell at `place` of the definition, whose values are in `stored`.

    None: there are no values, so that any unit will do. `against` says in words what they are held
    against. InputError where a unit doesn't fit.
    """
    cell = spec.cells[place]
    statistic: str = cell.statistic
    if cell.peak:
        statistic = THEORETICAL
    elif stored is not None:
        statistic = resolved(statistic, cell.metric, stored)
    own = own_unit(statistic)
    base, digits = stored if stored is not None else "", cell.digits
    compared = cell.compared if cell.against else ""
    if cell.relative_to or compared in ("ratio", "change"):
        base = "1"
    elif own is not None:
        base, digits = own, digits if own else 0
    unit = cell.unit or _own_unit(cell, base, stored)
    if stored is not None and scale(unit, base) is None:
        what = f"the {cell.statistic} of {cell.metric}"
        what = f"the theoretical {cell.peak}" if cell.peak else what
        raise InputError(
            f"table {spec.name!r}: {unit!r} can't show {what}:"
            f" use one of {', '.join(fitting_units(base))}"
        )
    name = cell.peak or cell.metric
    label = heading(cell, unit).text
    return Column(
        key=key,
        metric=name,
        statistic=statistic,
        unit=unit,
        base_unit=base,
        metric_unit=stored or "",
        digits=digits,
        place=place,
        relative_to=cell.relative_to,
        label=label,
        compared=compared,
        against=against,
        beside=resolved(cell.beside or "", cell.metric, stored or ""),
    )


def _own_unit(cell: CellSpec, base: str, stored: str | None) -> str:
    # How many times as long as it takes at best reads better than a percentage.
    as_share = bool(cell.relative_to) and stored != "s"
    as_share |= bool(cell.against) and cell.compared == "change"
    return "%" if as_share or own_unit(cell.statistic) == "1" else base
