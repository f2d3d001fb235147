"""What a table or figure selects: the axes it names, and the measurements at its values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from railgauge.report.tables.axes import (
    FIXED_AXES,
    Axis,
    Key,
    Placed,
    axis_value,
    parameter_infos,
    selected_values,
    sorted_keys,
)
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue
    from railgauge.report.definition.definition_model import TableSpec
    from railgauge.report.definition.model_parts import AxisSpec, Selection

P = TypeVar("P", bound=Placed)


def engines_shown(select: Mapping[str, Selection], measurements: Iterable[Placed]) -> list[str]:
    """Return the engines to show: equal names of parameters need not mean the same in others."""
    if "engine" in select:
        return [str(name) for name in selected_values(select["engine"])]
    return list(dict.fromkeys(measurement.case.engine for measurement in measurements))


def make_axes(
    names: Iterable[str],
    specs: Mapping[str, AxisSpec],
    engines: Sequence[str],
    catalogue: Catalogue | None,
) -> dict[str, Axis]:
    """Return the axis of each of `names`, with the texts and the order of its spec."""
    axes = {}
    for name in dict.fromkeys(names):
        spec = specs.get(name)
        axis = Axis(name, parameter_infos(name, engines, catalogue), spec.title if spec else "")
        if spec is not None:
            for written, text in spec.labels.items():
                axis.set_label(written, text)
            axis.arrange(spec.order, spec.sort or "")
        axes[name] = axis
    return axes


def selector(select: Mapping[str, Selection], axes: Mapping[str, Axis]) -> Callable[[Placed], bool]:
    """Return a function that says whether `select` selects a measurement."""
    accepted = {
        name: axes[name].accepts(selected_values(selection)) for name, selection in select.items()
    }
    return lambda measurement: all(
        axis_value(measurement, name) in values for name, values in accepted.items()
    )


def matching(
    measurements: Iterable[P], select: Mapping[str, Selection], axes: Mapping[str, Axis]
) -> list[P]:
    """Return those of `measurements` that `select` selects."""
    return list(filter(selector(select, axes), measurements))


def group_by_axes(
    measurements: Iterable[P], names: Sequence[str], axis_of: Callable[[str], Axis]
) -> list[tuple[Key, list[P]]]:
    """Return the measurements by their values on the axes `names`, in the axes' order."""
    groups: dict[Key, list[P]] = {}
    for measurement in measurements:
        key = tuple(axis_value(measurement, name) for name in names)
        groups.setdefault(key, []).append(measurement)
    return [(key, groups[key]) for key in sorted_keys(groups, [axis_of(name) for name in names])]


def differing_axes(measurements: Collection[Placed]) -> list[str]:
    """Return the axes on which not all of `measurements` have the same value."""
    parameters = sorted({name for measured in measurements for name in measured.case.parameters})
    return [
        name
        for name in (*FIXED_AXES, *parameters)
        if len({axis_value(measurement, name) for measurement in measurements}) > 1
    ]


def selected_and_available(
    select: Mapping[str, Selection], measurements: Sequence[Placed], axes: Mapping[str, Axis]
) -> tuple[list[str], list[str]]:
    """Return what `select` names and what there is on those axes, for a sentence."""
    selected, available = [], []
    for name, selection in select.items():
        selected.append(f"{name} {' or '.join(map(str, selected_values(selection)))}")
        values = {axes[name].text(axis_value(measured, name)): None for measured in measurements}
        available.append(f"{name} {abbreviated(values)}")
    return selected, available


def no_measurement(
    spec: TableSpec, measurements: Sequence[Series], axes: Mapping[str, Axis]
) -> str:
    """Return that a table selects none of the measurements, and what there is."""
    requested, available = selected_and_available(spec.select, measurements, axes)
    metrics = dict.fromkeys(cell.metric for cell in spec.cells if cell.metric)
    requested.insert(0, f"metric {' or '.join(metrics)}")
    measured = dict.fromkeys(measurement.metric for measurement in measurements)
    available.insert(0, f"metric {abbreviated(measured)}")
    if any(cell.select for cell in spec.cells):
        requested.append("and what its cells select")
    there_is = "; ".join(available) if measurements else "nothing of these metrics"
    return (
        f"table {spec.name!r}: no measurement has {', '.join(requested)}; there is: {there_is}."
        " Change 'select' or 'cells', or name other runs"
    )


def abbreviated(values: Collection[str], separator: str = ", ") -> str:
    """Return the first ten of `values`, with `separator` between, and how many more there are."""
    listed = list(values)
    more = f" and {len(listed) - 10} more" if len(listed) > 10 else ""
    return separator.join(listed[:10]) + more
