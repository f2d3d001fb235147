"""The values that the kinds which show a metric choose, and how they call it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from railgauge.errors import InputError
from railgauge.report.kinds.base import Lacking
from railgauge.report.model import FigureSpec
from railgauge.report.notes import STATISTIC_WORDS, words

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.records import Series

ABSENT = "name other runs, or another metric"


def members(store: Store, runs: Sequence[int], figure: FigureSpec) -> list[Series]:
    """Return each case's values of the metric that `figure` shows."""
    metric = figure.y.metric
    return [one for one in store.series(runs, [metric]) if one.metric == metric]


def lacking(
    store: Store, runs: Sequence[int], figure: FigureSpec, found: Sequence[Series]
) -> list[Lacking]:
    """Return nothing: a case without a value is a series of none."""
    return []


def base_unit(figure: FigureSpec, statistic: str, shown: Sequence[Series]) -> str:
    """Return the base unit of the statistic; InputError where engines disagree on it."""
    if statistic in ("cv", "n"):
        return "1" if statistic == "cv" else ""
    units = {one.unit for one in shown}
    if len(units) > 1:
        raise InputError(
            f"figure {figure.name!r}: {figure.y.metric} is in {' and in '.join(sorted(units))}"
            " for different engines: select one engine"
        )
    return units.pop()


def what(metric: str, statistic: str, plain: str = "mean") -> str:
    """Return the title of a metric's statistic, which goes unsaid where it is the `plain` one."""
    name = words(metric)
    if statistic != plain:
        name = f"{STATISTIC_WORDS.get(statistic, statistic)} of {name}"
    return name[:1].upper() + name[1:]
