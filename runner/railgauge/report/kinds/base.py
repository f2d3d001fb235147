"""What a kind of figure is: which measurements it takes and what it makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from railgauge.cases import Case
from railgauge.errors import InputError
from railgauge.report.axes import Axis, Placed
from railgauge.report.figure import Content, Scale
from railgauge.report.model import FigureSpec, XSpec, YSpec
from railgauge.report.number import fitting_units, scale

if TYPE_CHECKING:
    from railgauge.store import Store

M = TypeVar("M", bound=Placed)


@dataclass(frozen=True, slots=True)
class Line(Generic[M]):
    """One series to draw: its label and the measurements in it."""

    label: str
    members: Sequence[M]


@dataclass(frozen=True, slots=True)
class Lacking:
    """A case that was to have what a kind shows, and has none: it failed, or wasn't measured."""

    run: int
    plan: str
    test: str
    case: Case


@dataclass(frozen=True, slots=True)
class Kind(Generic[M]):
    """A kind of figure.

    `x` is the base unit of its x axis, None where the definition chooses a parameter (`x.axis`);
    `y` that of its y axis, None where it chooses a metric (`y.metric`). `log` are those of the two
    that may be logarithmic. `members` reads the measurements, `absent` says what to do when there
    are none, `draw` makes the content; no more than `most` series can be told apart, where
    they aren't drawn `together` as one. `lacking` names the cases that `members` has nothing of and
    should have.
    """

    x: str | None
    y: str | None
    log: tuple[str, ...]
    most: int
    absent: str
    members: Callable[[Store, Sequence[int], FigureSpec], list[M]]
    draw: Callable[[FigureSpec, Store, Sequence[Line[M]], Callable[[str], Axis]], Content]
    lacking: Callable[[Store, Sequence[int], FigureSpec, Sequence[M]], list[Lacking]]
    together: bool = False


def scale_of(
    figure: FigureSpec, said: XSpec | YSpec, title: str, base: str, unit: str = "", *, log: bool
) -> tuple[Scale, float]:
    """Return a figure's axis and how many base units its unit is; InputError if that can't be.

    `title`, `unit` and `log` are the kind's own, for where the definition doesn't say.
    """
    unit = said.unit or unit or base
    per_unit = scale(unit, base)
    if per_unit is None:
        raise InputError(
            f"figure {figure.name!r}: {unit!r} can't show {title!r}:"
            f" use one of {', '.join(fitting_units(base))}"
        )
    shown_unit = "" if unit == "1" else unit
    chosen_log = log if said.log is None else said.log
    return Scale(said.title or title, shown_unit, chosen_log), float(per_unit)
