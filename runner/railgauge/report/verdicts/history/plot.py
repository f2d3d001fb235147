"""A case's history drawn by gnuplot: nights with their intervals, levels, change points marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from railgauge.base.characters import shortened, visible
from railgauge.base.number import best_unit, scale
from railgauge.compare.case_history import History, Night
from railgauge.plan.catalogue.headlines import display_base
from railgauge.report.figures.gnuplot import find_gnuplot, run_gnuplot
from railgauge.report.figures.scripts import render_script
from railgauge.report.verdicts.history.history_words import (
    beside_lines,
    change_text,
    day,
    earlier_names,
)

# Below the picture stand the newest change points, so many, each with so many lines beside it.
_MOST_POINTS, _MOST_LINES = 6, 4
_LONGEST = 110
# Over less time than this (s), ticks of days alone would be one day's several times.
_DAYS = 5 * 86400.0
# The least room beside the first and the last night (s): one alone would have no axis.
_BESIDE = 1800.0


@dataclass(frozen=True, slots=True)
class ChangeMark:
    """A change point in the picture: its number and when its first night was, in s since 1970."""

    number: int
    seconds: float
    provisional: bool


@dataclass(frozen=True, slots=True)
class HistoryPlot:
    """What the script is made from: the blocks of the data file that there are, marks, texts.

    `days`: days are enough to distinguish times. `levels` are those of the nights' intervals, in
    words.
    """

    name: str
    title: str
    y: str
    low: float
    high: float
    days: bool
    levels: str
    blocks: dict[str, int]
    marks: tuple[ChangeMark, ...]
    captions: tuple[str, ...]


def draw_history(history: History, title: str) -> dict[str, str]:
    """Return the figure's files by name: script, data and SVG.

    EnvironmentFailedError when gnuplot can't draw it. `title` is the name of the case; it stands
    above the picture, and the newest change points below.
    """
    name = "history-" + re.sub(r"[^A-Za-z0-9_]", "-", f"{history.case.key}-{history.metric}")
    medians = [night.median for night in history.nights]
    unit = best_unit(display_base(history.metric, history.unit), medians)
    times = [_seconds(night) for night in history.nights]
    margin = max(_BESIDE, (times[-1] - times[0]) / 50)
    blocks = _blocks(history, float(scale(unit, history.unit) or 1))
    shown_unit = f" ({unit})" if unit else ""
    plot = render_script(
        "history",
        plot=HistoryPlot(
            name=name,
            title=visible(title),
            y=f"{visible(history.metric).replace('_', ' ')}{shown_unit}",
            low=times[0] - margin,
            high=times[-1] + margin,
            levels=_interval_levels(history),
            days=times[-1] - times[0] >= _DAYS,
            blocks={block: place for place, block in enumerate(blocks)},
            marks=tuple(
                ChangeMark(number, _seconds(change.night), change.point.provisional)
                for number, change in enumerate(history.changes, 1)
            ),
            captions=_captions(history),
        ),
    )
    dat = "\n\n".join(f"# {block}\n{rows}" for block, rows in blocks.items())
    dat = f"# {visible(title)}\n# {visible(history.metric)}{shown_unit}\n{dat}"
    (svg,) = run_gnuplot(
        find_gnuplot(), {f"{name}.plot": plot, f"{name}.dat": dat}, {f"{name}.svg": "</svg>"}
    )
    return {f"{name}.plot": plot, f"{name}.dat": dat, f"{name}.svg": svg}


def _interval_levels(history: History) -> str:
    """Return of which levels the nights' intervals are: `95 %`, `95 % or 99 %`."""
    percents = {night.percent for night in history.nights if night.interval}
    return " or ".join(f"{percent} %" for percent in sorted(percents or {95}))


def _blocks(history: History, per_unit: float) -> dict[str, str]:
    kinds = {
        "nights: seconds since 1970, median, low, high": [
            night for night in history.nights if not night.suspect
        ],
        "nights with suspect values": [night for night in history.nights if night.suspect],
    }
    blocks = {
        name: "".join(_row(night, per_unit) for night in nights)
        for name, nights in kinds.items()
        if nights
    }
    if history.changes:
        blocks["levels: seconds since 1970, median"] = "\n".join(_levels(history, per_unit))
    return blocks


def _row(night: Night, per_unit: float) -> str:
    low, high = night.interval[:2] if night.interval else (night.median, night.median)
    values = (night.median, low, high)
    texts = (f"{value / per_unit:.9g}" for value in values)
    return f"{_seconds(night):.0f} {' '.join(texts)}\n"


def _levels(history: History, per_unit: float) -> Iterator[str]:
    """Yield a line from begin to end of each level."""
    points = [change.point for change in history.changes]
    edges = [0, *(point.index for point in points), len(history.nights)]
    medians = [points[0].before, *(point.after for point in points)]
    for place, median in enumerate(medians):
        ends = history.nights[edges[place]], history.nights[edges[place + 1] - 1]
        yield "".join(f"{_seconds(night):.0f} {median / per_unit:.9g}\n" for night in ends)


def _captions(history: History) -> tuple[str, ...]:
    return tuple(shortened(line, _LONGEST) for line in _caption_lines(history))


def _caption_lines(history: History) -> Iterator[str]:
    if history.earlier:
        yield earlier_names(history.earlier)
    numbered = list(enumerate(history.changes, 1))
    for number, changed in numbered[-_MOST_POINTS:]:
        run = changed.night.run
        yield f"{number}: {day(run)} (run {run.id}): {change_text(history, changed)}"
        lines = [
            f"run {beside.run.id}: {line}"
            for beside in changed.beside
            for line in beside_lines(beside)
        ]
        yield from (f"    {line}" for line in lines[:_MOST_LINES])
        if (more := len(lines) - _MOST_LINES) > 0:
            yield f"    and {more:,} more changes"


def _seconds(night: Night) -> float:
    return datetime.fromisoformat(night.run.started_at).timestamp()
