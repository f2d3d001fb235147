"""What tells the series of a figure apart: the fewest axes on which they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from railgauge.report.figures.kinds.base import FigureLine
from railgauge.report.tables.axes import Axis, AxisValue, Placed, axis_value
from railgauge.report.tables.selection import P

# Between parameters and these a reader looks first for what was varied on purpose.
_LAST = ("engine", "test", "plan", "run", "client_host", "server_host")
# Along an axis these differ, too.
_OF_ALL = ("test", "plan")
_IMPLIED = {
    "link": ("client_host", "server_host"),
    "client_host": ("link",),
    "server_host": ("link",),
}
# Their values say by themselves what they are.
_PLAIN = ("link", "engine", "test", "plan", "client_host", "server_host")


def tell_apart(
    members: Sequence[P],
    axis_of: Callable[[str], Axis],
    along: str = "",
    named: Sequence[str] = (),
) -> list[FigureLine[P]]:
    """Return `members` as series, each with a label that no other has, in the axes' order.

    Members that differ in `along` only are one series. A single series is named by its link or, if
    it has several, its engine. The axes `named`, if any, tell series apart in place of those on
    which they differ.
    """
    names = list(named) or _differing(members, along) or [_shared(members)]
    groups = _groups(members, names)
    places = [
        {value: i for i, value in enumerate(axis_of(name).sorted(key[place] for key in groups))}
        for place, name in enumerate(names)
    ]
    ordered = sorted(
        groups, key=lambda key: [place[value] for place, value in zip(places, key, strict=True)]
    )
    return [
        FigureLine(label(zip(names, key, strict=True), axis_of), groups[key]) for key in ordered
    ]


def _shared(members: Sequence[Placed]) -> str:
    names = ("link", "engine", "test")
    return next((name for name in names if len(_groups(members, [name])) == 1), "plan")


def _differing(members: Sequence[Placed], along: str) -> list[str]:
    """Return the fewest axes that tell `members` apart, but for `along`."""
    parameters = dict.fromkeys(name for one in members for name in one.case.parameters)
    if along == "engine":
        # What only some have tells nothing apart but the engines.
        every = [one.case.parameters.keys() for one in members]
        parameters = {name: None for name in parameters if all(name in those for those in every)}
    names: list[str] = []
    kinds = 1
    # Several engines differ in all the parameters that only one of them has.
    several = len({one.case.engine for one in members}) > 1
    for name in ("link", *(("engine",) if several else ()), *parameters, *_LAST):
        if name == along or name in _IMPLIED.get(along, ()) or (along and name in _OF_ALL):
            continue
        more = len(_groups(members, [*names, name]))
        if more > kinds:
            names, kinds = [*names, name], more
    return names


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
