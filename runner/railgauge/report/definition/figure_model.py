"""What a report definition may say of a figure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from railgauge.plan.validation import StrictModel
from railgauge.report.definition.model_parts import AxisSpec, Selection, Stem, Width
from railgauge.report.definition.statistic import DEFAULT, Number

# What the bars at a point show: the least and the greatest replication, the 95 % interval of the
# median, one standard deviation either way, or nothing.
Errors = Literal["range", "interval", "stdev", "none"]
Limit = Annotated[float, Field(allow_inf_nan=False)]


class XSpec(StrictModel):
    """A figure's x axis. `axis`, `metric`: what it shows, in kinds that leave the choice.

    An empty `unit` or `title` is the kind's own; so is `log` where it isn't said.
    """

    axis: str = ""
    metric: str = ""
    unit: str = ""
    title: str = ""
    log: bool | None = None


class YSpec(StrictModel):
    """A figure's y axis. `axis`, `metric`, `statistic`: what it shows, in kinds that leave it open.

    A ratio, which has no `mean`, shows its median in its place. `from`, `to` are where the axis
    ends, in its unit. `peak` is a resource (`memory`, `cpu_{precision}`): what the hosts can do at
    most of it stands beside what was measured.
    """

    axis: str = ""
    metric: str = ""
    statistic: Number = DEFAULT
    peak: str = ""
    unit: str = ""
    title: str = ""
    log: bool | None = None
    from_: Limit | None = Field(default=None, alias="from")
    to: Limit | None = None


class FigureSpec(StrictModel):
    """One figure of a kind (report/figures/kinds); `select` as in tables.

    `each` names axes for each of whose values there is a figure of its own, `series` those that
    distinguish its series (empty: on which they differ). `replication`: the one whose trace is
    shown (None: the first that has one). `errors` and `bins` (how many) are the kind's own if None.
    `caption` are sentences behind the title, `width` is the picture's in LaTeX, in cm (None: as
    wide as the lines).
    """

    name: Stem
    title: str
    kind: str
    select: dict[str, Selection] = Field(default_factory=dict)
    each: list[str] = Field(default_factory=list)
    series: list[str] = Field(default_factory=list)
    replication: Annotated[int, Field(ge=1)] | None = None
    x: XSpec = XSpec()
    y: YSpec = YSpec()
    errors: Errors | None = None
    bins: Annotated[int, Field(ge=1, le=1000)] | None = None
    axes: dict[str, AxisSpec] = Field(default_factory=dict)
    caption: str = ""
    width: Width | None = None
    notes: str = ""

    @property
    def metric(self) -> str:
        """Return the metric that the figure shows, on whichever axis; empty if it has none."""
        return self.x.metric or self.y.metric
