"""Draws all timelines of a case with one run of gnuplot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from railgauge.base.characters import visible
from railgauge.report.figures.gnuplot import run_gnuplot
from railgauge.report.figures.scripts import render_script
from railgauge.report.pages.case.timelines import blocks

if TYPE_CHECKING:
    from railgauge.report.pages.case.case_view import HostTimelines
    from railgauge.report.pages.case.timelines import Steps

_COLOURS = ("#0072B2", "#D55E00")  # of Okabe and Ito (jfly.uni-koeln.de/color)


class BlockStyle(NamedTuple):
    """How the script draws one block of the data file."""

    block: int
    label: str
    colour: str
    suspect: bool


class Panel(NamedTuple):
    """One picture of the script: the name of its file, its y axis, and its lines.

    That axis begins at 0, or below it where a value does (`negative`).
    """

    name: str
    y: str
    top: float | None
    negative: bool
    lines: tuple[BlockStyle, ...]


class CasePlot(NamedTuple):
    """A case's script, its data, and the SVG of each timeline in order."""

    plot: str
    dat: str
    svgs: tuple[str, ...]


def draw_timelines(program: str, name: str, title: str, drawn: Sequence[HostTimelines]) -> CasePlot:
    """Return the timelines of each host of the case `name`, drawn by gnuplot at `program`.

    EnvironmentFailedError when that can't be done.
    """
    panels, dat = _lay_out(name, drawn)
    plot = render_script("timelines", name=name, title=title, panels=panels)
    texts = run_gnuplot(
        program,
        {f"{name}.plot": plot, f"{name}.dat": dat},
        {f"{panel.name}.svg": "</svg>" for panel in panels},
    )
    return CasePlot(plot, dat, tuple(texts))


def _lay_out(name: str, drawn: Sequence[HostTimelines]) -> tuple[list[Panel], str]:
    panels = []
    data: list[str] = []
    for place, host in enumerate(drawn, 1):
        for figure in host.figures:
            lines = []
            negative = False
            for label, suspect, steps in blocks(figure):
                negative |= any((line[:, 1] < 0).any() for line in steps)
                colour = _COLOURS[[points.label for points in figure.quantities].index(label)]
                lines.append(BlockStyle(len(data), label, colour, suspect))
                title = (
                    f"{visible(host.host)}: {figure.title}, {label}{', suspect' if suspect else ''}"
                )
                lines_of_data = "\n".join("".join(_points(line)) for line in steps)
                data.append(f"# {title}\n{lines_of_data}")
            panels.append(
                Panel(f"{name}-{place}-{figure.name}", figure.y, figure.top, negative, tuple(lines))
            )
    return panels, "\n\n".join(data)


def _points(steps: Steps) -> Iterator[str]:
    for seconds, number in steps.tolist():
        yield f"{seconds:.9g} {number:.9g}\n"
