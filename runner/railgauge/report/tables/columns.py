"""What a column of a table shows, and in which unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from railgauge.base.errors import InputError
from railgauge.base.number import fitting_units, scale
from railgauge.plan.catalogue.headlines import display_base
from railgauge.report.definition.statistic import LOCATIONS, own_unit, resolved
from railgauge.report.tables.axes import Key
from railgauge.report.tables.notes import heading
from railgauge.report.tables.table import THEORETICAL, Column
from railgauge.stats.averages import Average

if TYPE_CHECKING:
    from railgauge.report.definition.definition_model import CellSpec, TableSpec


def make_column(
    spec: TableSpec,
    key: Key,
    place: int,
    stored: str | None,
    average: Average = "none",
    against: str = "",
) -> Column:
    """Return the column of the cell at `place` of the definition, whose values are in `stored`.

    None: there are no values, so that any unit will do. `average` is the mean that fits them,
    `against` says in words what they are compared with. InputError where a unit doesn't fit.
    """
    cell = spec.cells[place]
    statistic = cell.statistic if stored is None else resolved(cell.statistic, average)
    base, digits = _base_and_digits(cell, stored)
    unit = cell.unit or _default_unit(cell, base, stored)
    _check_unit(spec, cell, unit, base, stored)
    return Column(
        key=key,
        metric=cell.peak or cell.metric,
        statistic=THEORETICAL if cell.peak else statistic,
        unit=unit,
        base_unit=base,
        metric_unit=stored or "",
        digits=digits,
        place=place,
        relative_to=cell.relative_to,
        label=heading(cell, unit).text,
        compared=cell.compared if cell.against else "",
        against=against,
        beside=resolved(cell.beside or "", average),
        by_interval="digits" not in cell.model_fields_set or _has_interval(spec, cell, statistic),
        digits_given="digits" in cell.model_fields_set,
        average=average,
    )


def _check_unit(spec: TableSpec, cell: CellSpec, unit: str, base: str, stored: str | None) -> None:
    """Refuse a unit that can't show what is stored in the base unit."""
    if stored is not None and scale(unit, base) is None:
        quantity = f"the {cell.statistic} of {cell.metric}"
        if cell.peak:
            quantity = f"the theoretical {cell.peak}"
        raise InputError(
            f"table {spec.name!r}: {unit!r} can't show {quantity}:"
            f" use one of {', '.join(fitting_units(base))}"
        )


def _has_interval(spec: TableSpec, cell: CellSpec, statistic: str) -> bool:
    """Return whether the table shows the interval of what the cell shows, there or elsewhere."""
    if cell.beside == "interval" or statistic == "interval":
        return True
    plain = not (cell.peak or cell.relative_to or cell.against)
    return (
        plain
        and statistic in LOCATIONS
        and any(
            other.metric == cell.metric
            and other.select == cell.select
            and other.statistic.startswith("interval")
            and not (other.relative_to or other.against)
            for other in spec.cells
        )
    )


def _base_and_digits(cell: CellSpec, stored: str | None) -> tuple[str, int]:
    """Return the base unit of what the cell shows, and its decimals."""
    if cell.relative_to or (cell.against and cell.compared != "difference"):
        return "1", cell.digits
    own = None if cell.peak else own_unit(cell.statistic)
    if own is None:
        return stored or "", cell.digits
    return own, cell.digits if own else 0


def _default_unit(cell: CellSpec, base: str, stored: str | None) -> str:
    # How many times as long as it takes at best reads better than a percentage.
    as_share = bool(cell.relative_to) and stored != "s"
    as_share |= bool(cell.against) and cell.compared == "change"
    own = own_unit(cell.statistic)
    of_metric = own is None and not (cell.relative_to or cell.against)
    as_share |= of_metric and display_base(cell.metric, base) == "1"
    return "%" if as_share or own == "1" else base
