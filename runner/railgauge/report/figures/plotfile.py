"""A figure as a gnuplot script and its data, kept beside what gnuplot makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from railgauge.report.figures.curves import data
from railgauge.report.figures.figure import Figure
from railgauge.report.figures.gnuplot import find_gnuplot
from railgauge.report.figures.pictures import Pictures, choose, draw_both
from railgauge.report.figures.scripts import render_plot


@dataclass(frozen=True, slots=True)
class DrawnFigure:
    """A figure as gnuplot drew it: the SVG, and its files' names and contents.

    The files are the script, its data, the SVG and the picture for LaTeX, of which
    `NAME-picture.tex` is the one to input; `packages` are what LaTeX needs for it. A figure without
    anything to draw has none of them.
    """

    figure: Figure
    svg: str
    files: Mapping[str, str | bytes]
    packages: tuple[str, ...]


def draw(figure: Figure, pictures: Pictures = "auto") -> DrawnFigure:
    """Return `figure` drawn by gnuplot; EnvironmentFailedError when that can't be done."""
    if figure.content.empty:
        return DrawnFigure(figure, "", {}, ())
    program = find_gnuplot()
    terminal = choose(program, pictures)
    name = figure.name
    sources = {f"{name}.plot": render_plot(figure, terminal), f"{name}.dat": data(figure)}
    svg, picture = draw_both(program, terminal, name, sources)
    return DrawnFigure(figure, svg, {**sources, f"{name}.svg": svg, **picture}, terminal.packages)
