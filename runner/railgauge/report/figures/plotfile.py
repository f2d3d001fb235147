"""A figure as a gnuplot script and its data, kept beside what gnuplot makes of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from railgauge.base.characters import visible
from railgauge.report.figures.curves import LONGEST, data
from railgauge.report.figures.figure import Figure, Scale
from railgauge.report.figures.gnuplot import find_gnuplot
from railgauge.report.figures.pictures import Pictures, choose, draw_both
from railgauge.report.formats import tex

# What follows a line's 1,013th byte gnuplot may take for a command of its own.
_PIECE = 100
# Of what gnuplot keeps of a tic's label.
_TIC_BYTES = 48
# What means something between double quotes.
_DOUBLE_QUOTED = re.compile(r"[\\\"'`@]")


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
        kept = {f"{name}.plot": self.plot, f"{name}.dat": self.dat, f"{name}.svg": self.svg}
        return {**kept, **self.picture}


def draw(figure: Figure, pictures: Pictures = "auto") -> DrawnFigure:
    """Return `figure` drawn by gnuplot; EnvironmentFailedError when that can't be done."""
    from railgauge.report.formats.render import render_plot

    program = find_gnuplot()
    terminal = choose(program, pictures)
    name = figure.name
    plot, dat = render_plot(figure, terminal), data(figure)
    files = {f"{name}.plot": plot, f"{name}.dat": dat}
    svg, picture = draw_both(program, terminal, name, files)
    return DrawnFigure(figure, plot, dat, svg, picture, terminal.packages)


def quoted(text: str) -> str:
    """Return `text` as a gnuplot string in which nothing is expanded or executed.

    A long one stands on several lines.
    """
    shown = visible(text)
    pieces = [shown[at : at + _PIECE] for at in range(0, len(shown), _PIECE)]
    return " . \\\n  ".join(map(_quoted_piece, pieces or [""]))


def _quoted_piece(text: str) -> str:
    if "'" not in text:
        return f"'{text}'"
    # Doubled, as gnuplot has it, it is taken for the end where a text begins with it.
    return '"' + _DOUBLE_QUOTED.sub(lambda match: f"\\{ord(match[0]):03o}", text) + '"'


def tic(text: str, written: Callable[[str], str] = str) -> str:
    """Return a tic's label as a gnuplot string, `written` for the terminal, shortened if it must.

    gnuplot takes a percent sign for a format and would cut what it keeps of a label in two.
    """
    shown = visible(text)
    for length in range(LONGEST, 0, -1):
        label = written(_shortened(shown, length)).replace("%", "%%")
        if len(label.encode()) <= _TIC_BYTES:
            return quoted(label)
    return quoted("")


def _shortened(text: str, length: int) -> str:
    """Return `text` with … in place of its middle, as names often differ at one of their ends."""
    if len(text) <= length:
        return text
    begin = 2 * length // 3
    return f"{text[:begin]}…{text[begin + 1 - length :] if begin + 1 < length else ''}"


def title(scale: Scale, latex: bool) -> str:
    """Return a scale's title and unit, as LaTeX or as plain text."""
    if not latex:
        return scale.text
    shown = tex.escape(scale.title)
    return f"{shown} ({tex.unit(scale.unit)})" if scale.unit else shown
