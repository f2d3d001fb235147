"""What tells the series of a figure apart: the fewest axes on which they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from railgauge.report.axes import Axis, AxisValue, axis_value
from railgauge.report.kinds.base import Line
from railgauge.report.selection import P

# Between parameters and these a reader looks first for what was varied on purpose.
_LAST = ("engine", "test", "plan", "run", "client_host", "server_host")
# Their values say by themselves what they are.
_PLAIN = ("link", "engine", "test", "plan", "client_host", "server_host")


def tell_apart(
    members: Sequence[P], axis_of: Callable[[str], Axis], along: str = ""
) -> list[Line[P]]:
    """Return `members` as series, each with a label that no other has, in the axes' order.

    Members that differ in `along` only are one series. A single series is named by its link.
    """
    parameters = dict.fromkeys(name for one in members for name in one.case.parameters)
    names: list[str] = []
    kinds = 1
    # Several engines differ in all the parameters that only one of them has.
    several = len({one.case.engine for one in members}) > 1
    for name in ("link", *(("engine",) if several else ()), *parameters, *_LAST):
        if name == along or (along and name in ("test", "plan")):
            continue
        more = len(_groups(members, [*names, name]))
        if more > kinds:
            names, kinds = [*names, name], more
    names = names or ["link"]
    groups = _groups(members, names)
    places = [
        {value: i for i, value in enumerate(axis_of(name).sorted(key[place] for key in groups))}
        for place, name in enumerate(names)
    ]
    ordered = sorted(
        groups, key=lambda key: [place[value] for place, value in zip(places, key, strict=True)]
    )
    return [Line(label(zip(names, key, strict=True), axis_of), groups[key]) for key in ordered]


def label(where: Iterable[tuple[str, AxisValue]], axis_of: Callable[[str], Axis]) -> str:
    """Return what stands at those values of those axes: `gw→hh, wait 12us`."""
    parts = []
    for name, value in where:
        axis = axis_of(name)
        text = axis.text(value)
        title = axis.title if axis.titled else name.replace("_", " ")
        parts.append(text if name in _PLAIN else f"{title} {text}")
    return ", ".join(parts)


def _groups(members: Iterable[P], names: Sequence[str]) -> dict[tuple[AxisValue, ...], list[P]]:
    groups: dict[tuple[AxisValue, ...], list[P]] = {}
    for one in members:
        groups.setdefault(tuple(axis_value(one, name) for name in names), []).append(one)
    return groups
