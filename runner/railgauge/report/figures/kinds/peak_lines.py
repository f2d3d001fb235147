"""What hosts can do at most, as lines among those of what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from railgauge.base.errors import InputError
from railgauge.base.number import scale
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.figures.figure import PlottedSeries
from railgauge.report.figures.kinds import valued
from railgauge.report.figures.kinds.errorbars import PointAxis
from railgauge.report.tables.theoretical import NoLimit, Theoretical

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.records import Series

_LABEL = "theoretical"


class PeakLines:
    """The theoretical values of a figure's cases, which lie on the x axis where these do.

    Of a figure that shows none it has no lines. Lines with one and the same course are drawn once.
    """

    def __init__(self, figure: FigureSpec, store: Store, all_series: Sequence[Series]) -> None:
        self._template = figure.y.peak
        self._figure = figure
        self._reasons: dict[str, None] = {}
        # The points (x, y) of each line, and the labels of the series that it is for.
        self._lines: dict[tuple[tuple[float, float], ...], list[str]] = {}
        runs = {series.run for series in all_series} if self._template else set()
        facts = {run: store.run(run).facts for run in runs}
        self._theoretical = Theoretical({run: store.peaks(run) for run in runs}, facts)

    def add(self, label: str, places: Mapping[float, Series], y: PointAxis) -> None:
        """Take the values of a series' cases by their places on x, in the axes' units."""
        if not self._template:
            return
        points = []
        for place, series in sorted(places.items()):
            limit = self._theoretical.of(self._template, series)
            if isinstance(limit, NoLimit):
                self._reasons[limit.reason] = None
                continue
            if scale(limit.unit, series.unit) is None:
                raise InputError(
                    f"figure {self._figure.name!r}: the theoretical {self._template} is in"
                    f" {limit.unit}, which can't stand beside {self._figure.metric} in"
                    f" {series.unit or '1'}: name another resource in 'peak'"
                )
            points.append((place, limit.value / y.per_unit))
        if points:
            self._lines.setdefault(tuple(points), []).append(label)

    def plotted(self) -> tuple[PlottedSeries, ...]:
        """Return the lines, ready to be drawn."""
        return tuple(
            PlottedSeries(label, np.array(points, np.float64), theoretical=True)
            for label, points in self._labelled()
        )

    def sentences(self, y: PointAxis) -> tuple[str, ...]:
        """Return a sentence for each line."""
        sentences = []
        for label, points in self._labelled():
            values = sorted({value for _, value in points})
            outer = dict.fromkeys((values[0], values[-1]))
            ends = [valued.number_text(value) for value in outer]
            sentences.append(f"{label}: {' to '.join(ends)}{valued.unit_of(y.scale)}.")
        return tuple(sentences)

    def notes(self) -> tuple[str, ...]:
        """Return where the values come from, and why there are none."""
        reasons = (f"{reason[:1].upper()}{reason[1:]}." for reason in self._reasons)
        return (*self._theoretical.sentences(), *reasons)

    def _labelled(self) -> list[tuple[str, tuple[tuple[float, float], ...]]]:
        # Lines along one level differ in where they begin and end at most.
        levels: dict[frozenset[float], list[tuple[str, tuple[tuple[float, float], ...]]]] = {}
        for points, labels in self._lines.items():
            level = frozenset(value for _, value in points)
            levels.setdefault(level, []).extend((label, points) for label in labels)
        lines = []
        for members in levels.values():
            longest = max((points for _, points in members), key=len)
            names = dict.fromkeys(label for label, _ in members)
            label = _LABEL if len(levels) == 1 else f"{_LABEL}: {', '.join(names)}"
            lines.append((label, longest))
        return lines
