"""What a figure may show of each arrival or round trip in a trace: a time, in ns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.base.errors import InputError
from railgauge.base.number import best_unit, in_best_unit, plural
from railgauge.base.trace import (
    Trace,
    interarrival,
    relative_delays,
    transit_changes,
    transits,
)
from railgauge.report.figures.kinds.kind import FigureLine

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec
    from railgauge.store import Store
    from railgauge.store.records import StoredTrace

NS = 1e-9
_PERCENTILES = {"minimum": 0, "median": 50, "99th percentile": 99, "maximum": 100}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A time that a trace has many of.

    `title` is the axis', `noun` what one is called and `nouns` several, `counted` what there is one
    of for each, and `too_few` what a trace without any has. `times` returns them, int64 (n,) in ns.
    `of_round_trips` says of which traces it is: of round trips, of streams; None of either.
    """

    title: str
    noun: str
    nouns: str
    counted: str
    too_few: str
    times: Callable[[Trace], NDArray[np.int64]]
    of_round_trips: bool | None = None

    def read(
        self, figure: FigureSpec, store: Store, lines: Sequence[FigureLine[StoredTrace]]
    ) -> list[tuple[str, StoredTrace, Trace]]:
        """Return each series' label and trace; InputError where it is of the other kind."""
        traces = []
        for line in lines:
            (stored,) = line.members
            trace = store.trace(stored)
            self._require(figure, line.label, trace)
            traces.append((line.label, stored, trace))
        return traces

    def _require(self, figure: FigureSpec, label: str, trace: Trace) -> None:
        of_round_trips = trace.clock == "sender"
        if self.of_round_trips in (None, of_round_trips):
            return
        mode, other = ("latency", "stream") if self.of_round_trips else ("stream", "latency")
        raise InputError(
            f"figure {figure.name!r}: the trace of {label!r} is of mode {other}, and has no"
            f" {self.nouns}: write 'select: {{mode: {mode}}}'"
        )

    def summary(self, label: str, times: NDArray[np.int64]) -> str:
        """Return a sentence on the `times` of a series."""
        if not len(times):
            return f"{label}: {self.too_few}."
        # Each percentile is a time that there was, as in the engines' histograms.
        levels = np.percentile(times, [*_PERCENTILES.values()], method="inverted_cdf") * NS
        values = [in_best_unit(float(value), "s") for value in levels]
        parts = [f"{name} {value}" for name, value in zip(_PERCENTILES, values, strict=True)]
        return f"{label}: {plural(len(times), self.noun, self.nouns)}, {', '.join(parts)}."


def unit_for(all_times: Sequence[NDArray[np.int64]]) -> str:
    """Return the unit that suits the middle one of all times."""
    times = np.concatenate([*all_times, np.empty(0, np.int64)])
    return best_unit("s", [float(np.median(times)) * NS]) if len(times) else "s"


def without_place(all_times: Sequence[NDArray[np.int64]], *, log: bool) -> Iterator[str]:
    """Yield how many times have no place on a logarithmic axis."""
    low = sum(int(np.count_nonzero(times <= 0)) for times in all_times) if log else 0
    if low:
        yield f"Times of 0 or less, which have no place on a logarithmic axis: {low}."


GAP = Quantity(
    "Inter-arrival time",
    "inter-arrival time",
    "inter-arrival times",
    "arrivals",
    "fewer than two arrivals",
    interarrival,
)
DELAY = Quantity(
    "One-way delay above the smallest",
    "one-way delay",
    "one-way delays",
    "arrivals",
    "no arrivals",
    relative_delays,
    of_round_trips=False,
)
JITTER = Quantity(
    "Change of one-way delay between arrivals",
    "change of delay",
    "changes of delay",
    "arrivals",
    "fewer than two arrivals",
    transit_changes,
    of_round_trips=False,
)
ROUND_TRIP = Quantity(
    "Round trip time",
    "round trip",
    "round trips",
    "round_trips",
    "no round trips",
    transits,
    of_round_trips=True,
)
