"""What a table or figure selects: the axes it names, and what stands at the wanted values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from railgauge.report.definition.model_parts import AxisSpec, Selection
from railgauge.report.tables.axes import (
    FIXED_AXES,
    Axis,
    AxisValue,
    Placed,
    axis_value,
    parameter_infos,
)

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue

P = TypeVar("P", bound=Placed)


def engines_shown(select: Mapping[str, Selection], items: Iterable[Placed]) -> list[str]:
    """Return the engines to show: equal names of parameters need not mean the same in others."""
    wanted = select.get("engine")
    if wanted is not None:
        return [str(name) for name in (wanted if isinstance(wanted, list) else [wanted])]
    return list(dict.fromkeys(one.case.engine for one in items))


def make_axes(
    names: Iterable[str],
    said: Mapping[str, AxisSpec],
    engines: Sequence[str],
    catalogue: Catalogue | None,
) -> dict[str, Axis]:
    """Return the axis of each of `names`, reading as `said`."""
    axes = {}
    for name in dict.fromkeys(names):
        spec = said.get(name)
        axis = Axis(name, parameter_infos(name, engines, catalogue), spec.title if spec else "")
        if spec is not None:
            for written, text in spec.labels.items():
                axis.label(written, text)
            axis.arrange(spec.order, spec.sort or "")
        axes[name] = axis
    return axes


def matching(
    items: Iterable[P], select: Mapping[str, Selection], axes: Mapping[str, Axis]
) -> list[P]:
    """Return those of `items` that `select` wants."""
    wanted = {
        name: axes[name].accepts(value if isinstance(value, list) else [value])
        for name, value in select.items()
    }
    return [
        one
        for one in items
        if all(axis_value(one, name) in values for name, values in wanted.items())
    ]


def by_each(
    items: Iterable[P], each: Sequence[str], axis_of: Callable[[str], Axis]
) -> list[tuple[tuple[AxisValue, ...], list[P]]]:
    """Return the items by their places on the axes `each`, in the axes' order."""
    groups: dict[tuple[AxisValue, ...], list[P]] = {}
    for one in items:
        groups.setdefault(tuple(axis_value(one, name) for name in each), []).append(one)
    places = [
        {value: i for i, value in enumerate(axis_of(name).sorted(key[at] for key in groups))}
        for at, name in enumerate(each)
    ]
    keys = sorted(groups, key=lambda key: [at[one] for at, one in zip(places, key, strict=True)])
    return [(key, groups[key]) for key in keys]


def telling(together: Collection[Placed]) -> list[str]:
    """Return the axes on which not all of `together` stand at the same value."""
    parameters = sorted({name for one in together for name in one.case.parameters})
    return [
        name
        for name in (*FIXED_AXES, *parameters)
        if len({axis_value(one, name) for one in together}) > 1
    ]


def asked_and_there(
    select: Mapping[str, Selection], items: Sequence[Placed], axes: Mapping[str, Axis]
) -> tuple[list[str], list[str]]:
    """Return what `select` asks for and what there is on those axes, for a sentence."""
    asked, there = [], []
    for name, value in select.items():
        values = value if isinstance(value, list) else [value]
        asked.append(f"{name} {' or '.join(str(each) for each in values)}")
        found = {axes[name].text(axis_value(one, name)): None for one in items}
        there.append(f"{name} {some(found)}")
    return asked, there


def some(values: Collection[str], between: str = ", ") -> str:
    """Return the first ten of `values`, with `between` in between, and how many more there are."""
    listed = list(values)
    more = f" and {len(listed) - 10} more" if len(listed) > 10 else ""
    return between.join(listed[:10]) + more
