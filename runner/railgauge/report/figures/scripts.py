"""The gnuplot scripts of figures, timelines and histories, through the templates."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from railgauge.base.characters import visible
from railgauge.report.figures import curves
from railgauge.report.figures.figure import Figure, Scale
from railgauge.report.figures.pictures import Terminal
from railgauge.report.formats import tex
from railgauge.report.formats.templates import ANGLED, environment

if TYPE_CHECKING:
    from jinja2 import Environment

# What follows a line's 1,013th byte gnuplot may take for a command of its own.
_PIECE = 100
# Of what gnuplot keeps of a tic's label.
_TIC_BYTES = 48
# What means something between double quotes.
_DOUBLE_QUOTED = re.compile(r"[\\\"'`@]")


def render_plot(figure: Figure, terminal: Terminal) -> str:
    """Return the gnuplot script that draws `figure` from its data file."""
    width = figure.width or curves.USUAL_WIDTH
    shared = {"figure": figure, "terminal": terminal, "width": width}
    if figure.content.grid is not None:
        blocks = {name: i for i, name in enumerate(curves.grid_blocks(figure.content.grid))}
        return render_script("heatmap", blocks=blocks, **shared)
    return render_script("figure", curves=curves.curves(figure.content, width), **shared)


def render_script(template: str, **values: Any) -> str:
    """Return the gnuplot script that a template makes of `values`; a data file goes with it."""
    return _gnuplot().get_template(f"{template}.plot.j2").render(values)


@cache
def _gnuplot() -> Environment:
    # The filter `quoted` keeps texts from acting.
    gnuplot = environment("gnuplot", **ANGLED)
    gnuplot.filters["quoted"] = quoted
    gnuplot.filters["crowded"] = curves.crowded
    gnuplot.filters["ends"] = curves.ends
    gnuplot.filters["tic"] = tic
    gnuplot.filters["tex_tic"] = lambda text: tic(text, tex.escape)
    gnuplot.filters["tex"] = tex.escape
    gnuplot.filters["title"] = title
    return gnuplot


def quoted(text: str) -> str:
    """Return `text` as a gnuplot string in which nothing is expanded or executed.

    A long one stands on several lines.
    """
    text = visible(text)
    pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
    return " . \\\n  ".join(map(_quoted_piece, pieces or [""]))


def _quoted_piece(text: str) -> str:
    if "'" not in text:
        return f"'{text}'"
    # Doubled, as gnuplot has it, it is taken for the end where a text begins with it.
    return '"' + _DOUBLE_QUOTED.sub(lambda match: f"\\{ord(match[0]):03o}", text) + '"'


def tic(text: str, escape: Callable[[str], str] = str) -> str:
    """Return a tic's label as a gnuplot string, escaped for the terminal, shortened if it must be.

    gnuplot takes a percent sign for a format and would cut what it keeps of a label in two.
    """
    for length in range(curves.LONGEST, 0, -1):
        label = escape(_shortened(visible(text), length)).replace("%", "%%")
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
    escaped = tex.escape(scale.title)
    return f"{escaped} ({tex.unit(scale.unit)})" if scale.unit else escaped
