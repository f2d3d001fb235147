"""What a kind of figure is: which measurements it takes and what it makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from railgauge.base.errors import InputError
from railgauge.base.number import fitting_units, scale
from railgauge.plan.cases import Case
from railgauge.report.figures.figure import Content, Scale
from railgauge.report.tables.axes import Axis, Placed

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec, XSpec, YSpec
    from railgauge.store import Store

M = TypeVar("M", bound=Placed)


@dataclass(frozen=True, slots=True)
class FigureLine(Generic[M]):
    """One series to draw: its label and the measurements in it."""

    label: str
    members: Sequence[M]


@dataclass(frozen=True, slots=True)
class Lacking:
    """A case that should have what a kind shows, and has none: it failed, or wasn't measured."""

    run: int
    plan: str
    test: str
    case: Case


@dataclass(frozen=True, slots=True)
class AxisRules:
    """What a definition may put on an axis of a kind.

    `unit` is the base unit of what the kind itself puts there; None where the definition chooses.
    `axis`: the key `axis` names a parameter with numbers ("number") or any axis ("any"); `choices`
    are all that it may name instead. `metric`: the key `metric` names one, of which a "statistic"
    is shown or all "values". `log`, `limits`: whether it may be logarithmic, and end at `from` or
    `to`; `peak`: whether a theoretical value may stand beside.
    """

    unit: str | None = None
    axis: Literal["", "number", "any"] = ""
    metric: Literal["", "statistic", "values"] = ""
    choices: tuple[str, ...] = ()
    log: bool = False
    limits: bool = False
    peak: bool = False


@dataclass(frozen=True, slots=True)
class Kind(Generic[M]):
    """A kind of figure.

    `members` reads the measurements, `absent` says what to do when there are none, `draw` makes the
    content; no more than `most` series can be distinguished, unless all are drawn `together` as
    one. `lacking` returns the cases of which `members` should have something and has nothing (None:
    it has a member for each case). `errors`, `bins`: whether a definition may set them. `along` is
    the axis on which a series' members differ. `recorded` is what it shows of replications instead
    of a metric: "trace" or "series".
    """

    x: AxisRules
    y: AxisRules
    most: int
    absent: str
    members: Callable[[Store, Sequence[int], FigureSpec], list[M]]
    draw: Callable[[FigureSpec, Store, Sequence[FigureLine[M]], Callable[[str], Axis]], Content]
    lacking: Callable[[Store, Sequence[int], FigureSpec, Sequence[M]], list[Lacking]] | None = None
    together: bool = False
    errors: bool = False
    bins: bool = False
    along: Callable[[FigureSpec], str] = attrgetter("x.axis")
    recorded: Literal["", "trace", "series"] = ""

    @property
    def traced(self) -> bool:
        """Whether it shows traces or series, and no metric."""
        return bool(self.recorded)


def scale_of(
    figure: FigureSpec, axis: XSpec | YSpec, title: str, base: str, unit: str = "", *, log: bool
) -> tuple[Scale, float]:
    """Return a figure's axis and how many base units its unit is; InputError if that can't be.

    `title`, `unit` and `log` are the kind's own, for where the definition doesn't say.
    """
    unit = axis.unit or unit or base
    per_unit = scale(unit, base)
    if per_unit is None:
        raise InputError(
            f"figure {figure.name!r}: {unit!r} can't show {title!r}:"
            f" use one of {', '.join(fitting_units(base))}"
        )
    shown_unit = "" if unit == "1" else unit
    chosen_log = log if axis.log is None else axis.log
    low, high = (figure.y.from_, figure.y.to) if axis is figure.y else (None, None)
    shown_scale = Scale(axis.title or title, shown_unit, chosen_log, low=low, high=high)
    return shown_scale, float(per_unit)
