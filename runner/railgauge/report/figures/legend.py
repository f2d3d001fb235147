"""The labels of a figure's series: their values on the fewest axes on which they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from railgauge.report.figures.kinds.kind import FigureLine
from railgauge.report.tables.axes import Axis, Placed, axis_value, place_label
from railgauge.report.tables.selection import P, group_by_axes

# Between parameters and these a reader looks first for what was varied on purpose.
_LAST = ("engine", "test", "plan", "run", "client_host", "server_host")
# These may differ within a series, too.
_OF_ALL = ("test", "plan")
_IMPLIED = {
    "link": ("client_host", "server_host"),
    "client_host": ("link",),
    "server_host": ("link",),
}


def tell_apart(
    members: Sequence[P],
    axis_of: Callable[[str], Axis],
    along: str = "",
    named: Sequence[str] = (),
) -> list[FigureLine[P]]:
    """Return `members` as series, each with a label that no other has, in the axes' order.

    Members that differ in `along` only are one series. A single series is labelled by its link or,
    if it has several, its engine. The axes `named`, if any, are used in place of those on which
    the series differ.
    """
    names = list(named) or _differing(members, along) or [_shared(members)]
    return [
        FigureLine(place_label(zip(names, key, strict=True), axis_of), group)
        for key, group in group_by_axes(members, names, axis_of)
    ]


def _shared(members: Sequence[Placed]) -> str:
    names = ("link", "engine", "test")
    return next((name for name in names if _count(members, [name]) == 1), "plan")


def _differing(members: Sequence[Placed], along: str) -> list[str]:
    """Return the fewest axes that distinguish `members`, but for `along`."""
    parameters = dict.fromkeys(name for member in members for name in member.case.parameters)
    if along == "engine":
        # What only some have distinguishes nothing but the engines.
        parameters = {
            name: None
            for name in parameters
            if all(name in member.case.parameters for member in members)
        }
    names: list[str] = []
    count = 1
    # Several engines differ in all the parameters that only one of them has.
    engines = ("engine",) if len({member.case.engine for member in members}) > 1 else ()
    for name in ("link", *engines, *parameters, *_LAST):
        if name == along or name in _IMPLIED.get(along, ()) or (along and name in _OF_ALL):
            continue
        more = _count(members, [*names, name])
        if more > count:
            names, count = [*names, name], more
    return names


def _count(members: Iterable[Placed], names: Sequence[str]) -> int:
    """Return how many different places `members` have on the axes `names`."""
    return len({tuple(axis_value(member, name) for name in names) for member in members})
