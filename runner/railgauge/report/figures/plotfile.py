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
    """A figure's files: the script, its data, the SVG it makes, and its picture for LaTeX.

    `picture` maps the names of the picture's files to their contents, of which `NAME-picture.tex`
    is the one to input; `packages` are what LaTeX needs for it.
    """

    figure: Figure
    plot: str
    dat: str
    svg: str
    picture: Mapping[str, str | bytes]
    packages: tuple[str, ...]

    def files(self) -> dict[str, str | bytes]:
        """Return each file's name and content."""
        name = self.figure.name
        return {
            f"{name}.plot": self.plot,
            f"{name}.dat": self.dat,
            f"{name}.svg": self.svg,
            **self.picture,
        }


def draw(figure: Figure, pictures: Pictures = "auto") -> DrawnFigure:
    """Return `figure` drawn by gnuplot; EnvironmentFailedError when that can't be done."""
    program = find_gnuplot()
    terminal = choose(program, pictures)
    name = figure.name
    plot, dat = render_plot(figure, terminal), data(figure)
    files = {f"{name}.plot": plot, f"{name}.dat": dat}
    svg, picture = draw_both(program, terminal, name, files)
    return DrawnFigure(figure, plot, dat, svg, picture, terminal.packages)
